/// \file
/// Products of matrices that are in cache already, such as one head's in attention: no packing, no
/// call overhead to speak of.
#pragma once

#include <cstdint>

#include "stages/kernels/cpu/gemm.h"

namespace zerolab::cpu {

/// C(m,n) = A(m,k) · B(k,n), or C += with `accumulate`; B and C are row-major with their strides.
/// Every element is a chain of fused multiply-adds in the order of k; the bits depend on the shape
/// alone.
void small_product(Matrix a, const float* b, std::int64_t b_stride, float* c, std::int64_t c_stride,
                   MatrixShape shape, bool accumulate);

}  // namespace zerolab::cpu
