// The only file that uses Eigen. ThreadSanitizer makes Eigen's inner loops about 40 times slower,
// so this file is compiled without it (kernels.cmake) and declares the ranges it touches instead.

// Below this size Eigen would use a product whose vector loop depends on the result's alignment.
#define EIGEN_GEMM_TO_COEFFBASED_THRESHOLD 0
#include "stages/kernels/cpu/gemm.h"

#include <Eigen/Core>
#include <memory>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

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

constexpr std::int64_t kLine = 16;  // floats
constexpr std::int64_t kWorthACopy = std::int64_t{1} << 24;

template <class StorageA, class StorageB>
void multiply_stored(Matrix a, Matrix b, float* c, std::int64_t stride, MatrixShape s,
                     float alpha) {
  const ReadMap<StorageA> left(a.data, s.m, s.k, Eigen::OuterStride<>(a.stride));
  const ReadMap<StorageB> right(b.data, s.k, s.n, Eigen::OuterStride<>(b.stride));
  WriteMap result(c, s.m, s.n, Eigen::OuterStride<>(stride));
  result.noalias() += alpha * left * right;
}

void multiply(Matrix a, Matrix b, float* c, std::int64_t stride, MatrixShape shape, float alpha) {
  if (a.transposed) {
    if (b.transposed) {
      multiply_stored<ColMajor, ColMajor>(a, b, c, stride, shape, alpha);
    } else {
      multiply_stored<ColMajor, RowMajor>(a, b, c, stride, shape, alpha);
    }
  } else if (b.transposed) {
    multiply_stored<RowMajor, ColMajor>(a, b, c, stride, shape, alpha);
  } else {
    multiply_stored<RowMajor, RowMajor>(a, b, c, stride, shape, alpha);
  }
}

struct alignas(64) Line {
  float values[kLine];
};

/// Logits of 50257 columns: rows that begin anywhere in a cache line slow Eigen down by a quarter,
/// since it reads and writes the result once for every 256 of k. So it gets a result of whole
/// lines.
void multiply_through_copy(Matrix a, Matrix b, float* c, std::int64_t stride, MatrixShape shape,
                           float alpha) {
  const std::int64_t lines = (shape.n + kLine - 1) / kLine + 1;
  const auto copy = std::make_unique<Line[]>(static_cast<std::size_t>(shape.m * lines));
  multiply(a, b, copy[0].values, lines * kLine, shape, alpha);
  for (std::int64_t r = 0; r < shape.m; ++r) {
    float* const out = c + r * stride;
    const float* const sums = copy[static_cast<std::size_t>(r * lines)].values;
    for (std::int64_t j = 0; j < shape.n; ++j) out[j] += sums[j];
  }
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
  if (stride % kLine != 0 && shape.m * shape.n * shape.k >= kWorthACopy) {
    multiply_through_copy(a, b, c, stride, shape, alpha);
  } else {
    multiply(a, b, c, stride, shape, alpha);
  }
}

void prepare_gemm() {
  static const bool done = [] {
    Eigen::setNbThreads(1);
    Eigen::setCpuCacheSizes(32 * 1024, 512 * 1024, 8 * 1024 * 1024);
#if defined(__GLIBC__)
    mallopt(M_MMAP_THRESHOLD, 4 * 1024 * 1024);
    mallopt(M_TRIM_THRESHOLD, 16 * 1024 * 1024);
#endif
    return true;
  }();
  (void)done;
}

}  // namespace zerolab::cpu
