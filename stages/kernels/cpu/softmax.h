/// \file
/// The loops over one row that a softmax is made of.
#pragma once

#include <cstdint>

#include "stages/kernels/cpu/simd.h"

namespace zerolab::cpu {

/// The largest of x; a NaN may be passed over (the sum of exponentials then is NaN).
inline float row_max(const float* x, std::int64_t count) {
  Float8 most = splat8(x[0]);
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) most = max8(load8(x + i), most);
  if (i < count) most = max8(load8(x + i, count - i, x[0]), most);
  return max_of_lanes(most);
}

/// Σ e^(x − max); with y, which may be x, the exponentials are kept there.
inline float exp_and_sum(const float* x, float* y, std::int64_t count, float max) {
  const Float8 shift = splat8(max);
  Float8 total0 = splat8(0.0F);
  Float8 total1 = splat8(0.0F);
  std::int64_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    const Float8 e0 = exp8(load8(x + i) - shift);
    const Float8 e1 = exp8(load8(x + i + kLanes) - shift);
    if (y != nullptr) {
      store8(y + i, e0);
      store8(y + i + kLanes, e1);
    }
    total0 += e0;
    total1 += e1;
  }
  for (; i < count; i += kLanes) {
    const std::int64_t n = count - i < kLanes ? count - i : kLanes;
    Float8 e = exp8(load8(x + i, n, max) - shift);
    for (std::int64_t lane = n; lane < kLanes; ++lane) e[lane] = 0.0F;
    if (y != nullptr) store8(y + i, e, n);
    total0 += e;
  }
  return sum_of_lanes(total0 + total1);
}

/// Σ x ⊙ y
inline float row_dot(const float* x, const float* y, std::int64_t count) {
  Float8 total = splat8(0.0F);
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) total = fma8(load8(x + i), load8(y + i), total);
  if (i < count) {
    total = fma8(load8(x + i, count - i, 0.0F), load8(y + i, count - i, 0.0F), total);
  }
  return sum_of_lanes(total);
}

inline void multiply_row(float* x, std::int64_t count, float factor) {
  for (std::int64_t i = 0; i < count; ++i) x[i] *= factor;
}

}  // namespace zerolab::cpu
