/// \file
/// Eight floats at once. Written out because sums must have one fixed order (GCC may not reorder
/// them), and because the tail of a row must give the same bits as its body.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

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

/// a·b + c, rounded once.
inline Float8 fma8(Float8 a, Float8 b, Float8 c) {
#if defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#else
  Float8 r;
  for (int i = 0; i < kLanes; ++i) r[i] = std::fma(a[i], b[i], c[i]);
  return r;
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

/// eˣ with a relative error below 2⁻²³ (tested); 0 below −87.3, +inf above 88.7, NaN for NaN.
/// x = n·ln 2 + r with |r| ≤ ln 2 / 2; eʳ by a polynomial; 2ⁿ as two factors, because n = 128 has
/// no float.
inline Float8 exp8(Float8 x) {
  const Float8 low = splat8(-87.33654F);
  const Float8 high = splat8(88.8F);
  // Comparisons with NaN are false, so NaN passes both clamps.
  const Float8 clamped = x > high ? high : (x < low ? low : x);
  const Float8 shift = splat8(0x1.8p23F);  // adding it rounds to an integer
  const Float8 shifted = fma8(clamped, splat8(1.44269504F), shift);
  const Float8 n = shifted - shift;
  // ln 2 in two parts: the first is exact when multiplied by n.
  Float8 r = fma8(n, splat8(-0.693359375F), clamped);
  r = fma8(n, splat8(2.12194440e-4F), r);
  Float8 p = splat8(1.0F / 5040.0F);
  p = fma8(p, r, splat8(1.0F / 720.0F));
  p = fma8(p, r, splat8(1.0F / 120.0F));
  p = fma8(p, r, splat8(1.0F / 24.0F));
  p = fma8(p, r, splat8(1.0F / 6.0F));
  p = fma8(p, r, splat8(0.5F));
  p = fma8(p, r, splat8(1.0F));
  p = fma8(p, r, splat8(1.0F));
  // The integer n sits in the low bits of `shifted`; NaN lanes end as NaN through p.
  const Integer8 bits = std::bit_cast<Integer8>(shifted) - std::bit_cast<Integer8>(shift);
  const Integer8 half = bits >> 1;
  const Float8 scale1 = std::bit_cast<Float8>((half + 127) << 23);
  const Float8 scale2 = std::bit_cast<Float8>((bits - half + 127) << 23);
  const Float8 result = p * scale1 * scale2;
  return x < low ? splat8(0.0F) : result;
}

}  // namespace zerolab::cpu
