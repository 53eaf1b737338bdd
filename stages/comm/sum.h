/// \file
/// Sums of several ranks' contributions, element by element.
#pragma once

#include <cstdint>
#include <span>

#include "stages/core/dtype.h"

namespace zerolab {

/// Whether sums are defined: false for int8 and byte, which are only moved.
bool has_sum(DType dtype);

/// out[i] = ((t0[i] + t1[i]) + t2[i]) + …: the order of the ranks. fp32, bf16 and fp16 are added in
/// fp32, the others in their own type (integers wrap around); the result is rounded once. `out` may
/// be one of the terms, but may not overlap one in part.
void sum_in_order(DType dtype, std::span<const std::byte* const> terms, std::byte* out,
                  std::int64_t count);

/// The same over a balanced binary tree: (t0 + t1) + (t2 + t3) for four terms. The number of terms
/// must be a power of two.
void sum_as_tree(DType dtype, std::span<const std::byte* const> terms, std::byte* out,
                 std::int64_t count);

}  // namespace zerolab
