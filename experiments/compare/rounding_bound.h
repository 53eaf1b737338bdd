/// \file
/// How far rounding may take two computations of the same number apart. Derived in
/// docs/rounding-bound.md.
#pragma once

#include <cmath>
#include <cstdint>

namespace zerolab {

/// u of fp32, rounding to nearest.
inline constexpr double kUnitRoundoff = 0x1p-24;

/// γ(n) = n·u / (1 − n·u): n roundings multiply a number by 1 + θ with |θ| ≤ γ(n) (Higham, Accuracy
/// and Stability of Numerical Algorithms, lemma 3.1). Infinite where n·u ≥ 1.
constexpr double gamma_of(std::int64_t roundings) {
  const double nu = static_cast<double>(roundings) * kUnitRoundoff;
  return nu < 1 ? nu / (1 - nu) : HUGE_VAL;
}

/// Largest distance between two sums of the same `terms` numbers in any two orders: each is within
/// γ(terms − 1)·Σ|x| of the exact sum. With norms for magnitudes it bounds the norm of the
/// difference of two summed vectors.
constexpr double reordering_bound(std::int64_t terms, double sum_of_magnitudes) {
  return 2 * gamma_of(terms - 1) * sum_of_magnitudes;
}

/// Relative perturbation of the weights that explains the rounding of products with `inner` terms:
/// 4·√inner·u bounds it with probability above 0.999 an element (Higham and Mary 2019, theorem 3.1
/// with λ = 4), where the worst case is γ(inner).
inline double product_perturbation(std::int64_t inner) {
  return 4 * std::sqrt(static_cast<double>(inner)) * kUnitRoundoff;
}

}  // namespace zerolab
