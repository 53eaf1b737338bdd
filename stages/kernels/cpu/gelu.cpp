#include "stages/kernels/cpu/gelu.h"

#include "stages/kernels/cpu/simd.h"

namespace zerolab::cpu {
namespace {

constexpr float kSqrtTwoOverPi = 0.7978845608F;
constexpr float kCubic = 0.044715F;

// σ(2u) = 1 / (1 + e^(−2u)), with −2u = x · (−2k − 2kc·x²)
Float8 sigmoid_of_2u(Float8 x, Float8 x_squared) {
  constexpr float kLinear = -2.0F * kSqrtTwoOverPi;
  const Float8 minus_2u = x * fma8(x_squared, splat8(kLinear * kCubic), splat8(kLinear));
  return splat8(1.0F) / (splat8(1.0F) + exp8(minus_2u));
}

Float8 gelu8(Float8 x) { return x * sigmoid_of_2u(x, x * x); }

// d/dx x·σ(2u) = σ + x · σ(1 − σ) · 2u'
Float8 gelu_slope8(Float8 x) {
  const Float8 x_squared = x * x;
  const Float8 s = sigmoid_of_2u(x, x_squared);
  const Float8 two_u_slope =
      fma8(x_squared, splat8(6.0F * kSqrtTwoOverPi * kCubic), splat8(2.0F * kSqrtTwoOverPi));
  // Where σ has reached 0 or 1 the product is 0 even if x² overflowed.
  const Float8 decay = s * (splat8(1.0F) - s);
  return fma8(decay > splat8(0.0F) ? x * two_u_slope : x - x, decay, s);
}

}  // namespace

void gelu(const float* x, float* y, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store8(y + i, gelu8(load8(x + i)));
  if (i < count) store8(y + i, gelu8(load8(x + i, count - i, 0.0F)), count - i);
}

void gelu_backward(const float* x, float* d, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store8(d + i, load8(d + i) * gelu_slope8(load8(x + i)));
  if (i < count) {
    const std::int64_t n = count - i;
    store8(d + i, load8(d + i, n, 0.0F) * gelu_slope8(load8(x + i, n, 0.0F)), n);
  }
}

}  // namespace zerolab::cpu
