/// \file
/// Eight floats at once. Written out because sums must have one fixed order (GCC may not reorder
/// them), and because the tail of a row must give the same bits as its body.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#if defined(__FMA__)
#include <immintrin.h>
#endif

namespace zerolab::cpu {

inline constexpr std::int64_t kLanes = 8;

using Float8 = float __attribute__((vector_size(32)));
using Integer8 = std::int32_t __attribute__((vector_size(32)));

inline Float8 load8(const float* p) {
  Float8 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline void store8(float* p, Float8 v) { std::memcpy(p, &v, sizeof v); }

inline Float8 splat8(float x) { return Float8{x, x, x, x, x, x, x, x}; }

/// The first n < 8 floats of p; the other lanes hold `rest`.
inline Float8 load8(const float* p, std::int64_t n, float rest) {
  Float8 v = splat8(rest);
  for (std::int64_t i = 0; i < n; ++i) v[i] = p[i];
  return v;
}

inline void store8(float* p, Float8 v, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) p[i] = v[i];
}

/// a·b + c; rounded once where the target has the instruction (without it, std::fma is a call, and
/// a hundred times slower than two operations).
inline Float8 fma8(Float8 a, Float8 b, Float8 c) {
#if defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#elif defined(FP_FAST_FMAF)
  Float8 r;
  for (int i = 0; i < kLanes; ++i) r[i] = std::fma(a[i], b[i], c[i]);
  return r;
#else
  return a * b + c;
#endif
}

/// The larger; b where either is NaN.
inline Float8 max8(Float8 a, Float8 b) { return a > b ? a : b; }

/// A fixed tree, so that every build adds in the same order.
inline float sum_of_lanes(Float8 v) {
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

inline float max_of_lanes(Float8 v) {
  float m = v[0];
  for (int i = 1; i < kLanes; ++i) m = v[i] > m ? v[i] : m;
  return m;
}

/// eˣ with a relative error below 2⁻²² (tested). 0 below −87.3; +inf above 88.37, slightly before
/// fp32 overflows; NaN for NaN.
///
/// x = n·ln 2 + r with |r| ≤ ln 2 / 2; eʳ is a polynomial with the least largest relative error
/// (2⁻²⁹, Remez's algorithm), and 2ⁿ is put together from its bits.
inline Float8 exp8(Float8 x) {
  // Adding 1.5·2²³ rounds to an integer. 127 more, and its low bits are the exponent field of 2ⁿ.
  const Float8 shift = splat8(0x1.8p23F + 127.0F);
  const Float8 shifted = fma8(x, splat8(1.44269504F), shift);
  const Float8 n = shifted - shift;
  // ln 2 in two parts: the product with the first is exact.
  Float8 r = fma8(n, splat8(-0.693359375F), x);
  r = fma8(n, splat8(2.12194440e-4F), r);
  Float8 p = splat8(1.383679402e-3F);
  p = fma8(p, r, splat8(8.374857074e-3F));
  p = fma8(p, r, splat8(4.166822868e-2F));
  p = fma8(p, r, splat8(1.666641968e-1F));
  p = fma8(p, r, splat8(4.999999206e-1F));
  p = fma8(p, r, splat8(1.000000036F));
  p = fma8(p, r, splat8(1.0F));
  const Float8 power = std::bit_cast<Float8>(std::bit_cast<Integer8>(shifted) << 23);
  Float8 result = p * power;
  // Comparisons with NaN are false, and its p is NaN.
  result = x > splat8(88.37F) ? splat8(std::numeric_limits<float>::infinity()) : result;
  return x < splat8(-87.33F) ? splat8(0.0F) : result;
}

}  // namespace zerolab::cpu
