// The only file that uses Eigen. ThreadSanitizer makes Eigen's inner loops about 40 times slower,
// so this file is compiled without it (kernels.cmake) and declares the ranges it touches instead.

// Below this size Eigen would use a product whose vector loop depends on the result's alignment.
#define EIGEN_GEMM_TO_COEFFBASED_THRESHOLD 0
#include "stages/kernels/cpu/gemm.h"

#include <Eigen/Core>

#if defined(ZEROLAB_TSAN_DECLARES_RANGES)
extern "C" void __tsan_read_range(void* address, unsigned long size);   // NOLINT
extern "C" void __tsan_write_range(void* address, unsigned long size);  // NOLINT
#endif

namespace zerolab::cpu {
namespace {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ColMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;
template <class Storage>
using ReadMap = Eigen::Map<const Storage, Eigen::Unaligned, Eigen::OuterStride<>>;
using WriteMap = Eigen::Map<RowMajor, Eigen::Unaligned, Eigen::OuterStride<>>;

template <class StorageA, class StorageB>
void multiply(Matrix a, Matrix b, float* c, std::int64_t stride, MatrixShape s, float alpha) {
  const ReadMap<StorageA> left(a.data, s.m, s.k, Eigen::OuterStride<>(a.stride));
  const ReadMap<StorageB> right(b.data, s.k, s.n, Eigen::OuterStride<>(b.stride));
  WriteMap result(c, s.m, s.n, Eigen::OuterStride<>(stride));
  result.noalias() += alpha * left * right;
}

#if defined(ZEROLAB_TSAN_DECLARES_RANGES)
void declare_ranges(Matrix a, Matrix b, float* c, std::int64_t stride, MatrixShape s) {
  const auto read = [](Matrix matrix, std::int64_t rows, std::int64_t columns) {
    if (matrix.transposed) std::swap(rows, columns);
    for (std::int64_t r = 0; r < rows; ++r) {
      __tsan_read_range(const_cast<float*>(matrix.data + r * matrix.stride),
                        static_cast<unsigned long>(columns) * sizeof(float));
    }
  };
  read(a, s.m, s.k);
  read(b, s.k, s.n);
  for (std::int64_t r = 0; r < s.m; ++r) {
    __tsan_write_range(c + r * stride, static_cast<unsigned long>(s.n) * sizeof(float));
  }
}
#endif

}  // namespace

void gemm(Matrix a, Matrix b, float* c, std::int64_t stride, MatrixShape shape, float alpha) {
  if (shape.m == 0 || shape.n == 0 || shape.k == 0) return;
#if defined(ZEROLAB_TSAN_DECLARES_RANGES)
  declare_ranges(a, b, c, stride, shape);
#endif
  if (a.transposed) {
    if (b.transposed) {
      multiply<ColMajor, ColMajor>(a, b, c, stride, shape, alpha);
    } else {
      multiply<ColMajor, RowMajor>(a, b, c, stride, shape, alpha);
    }
  } else if (b.transposed) {
    multiply<RowMajor, ColMajor>(a, b, c, stride, shape, alpha);
  } else {
    multiply<RowMajor, RowMajor>(a, b, c, stride, shape, alpha);
  }
}

void fix_gemm_blocking() {
  static const bool done = [] {
    Eigen::setNbThreads(1);
    Eigen::setCpuCacheSizes(32 * 1024, 512 * 1024, 8 * 1024 * 1024);
    return true;
  }();
  (void)done;
}

}  // namespace zerolab::cpu
