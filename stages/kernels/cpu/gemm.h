/// \file
/// The one-thread matrix product that everything else is built from (Eigen).
#pragma once

#include <cstdint>

#include "stages/kernels/kernels.h"

namespace zerolab::cpu {

/// A matrix that is only read. Element (r, c) is data[r·stride + c], or data[c·stride + r] when
/// transposed.
struct Matrix {
  const float* data = nullptr;
  std::int64_t stride = 0;
  bool transposed = false;

  /// The part whose first element is (r, c).
  Matrix at(std::int64_t r, std::int64_t c) const {
    return {data + (transposed ? c * stride + r : r * stride + c), stride, transposed};
  }
};

/// C(m,n) += alpha · A(m,k) · B(k,n) on the calling thread; C is row-major with `stride`. The bits
/// depend on the shape, not on addresses: they follow Eigen's blocking, which follows the cache
/// sizes that `fix_gemm_blocking` sets.
void gemm(Matrix a, Matrix b, float* c, std::int64_t stride, MatrixShape shape, float alpha = 1.0F);

/// Tells Eigen the same cache sizes on every machine (32 KiB, 512 KiB, 8 MiB) and one thread.
/// Called when kernels are made; any number of calls, from any threads, have the effect of one.
void fix_gemm_blocking();

}  // namespace zerolab::cpu
