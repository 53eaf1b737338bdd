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
/// sizes that `prepare_gemm` sets.
void gemm(Matrix a, Matrix b, float* c, std::int64_t stride, MatrixShape shape, float alpha = 1.0F);

/// To be called before the first product; kernels do when they are made. Any number of calls, from
/// any threads, have the effect of one.
///
/// Tells Eigen the same cache sizes on every machine (32 KiB, 512 KiB, 8 MiB) and one thread, since
/// its blocking, hence its bits, follow them. Also tells glibc to keep freed blocks of up to 4 MiB:
/// the packed operands of a tile are about that large, and giving them back to the system after
/// every tile costs 200 page faults each.
void prepare_gemm();

}  // namespace zerolab::cpu
