/// \file
/// The sum over ranks and micro-batches, recomputed on the host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace zerolab {

/// The same elements of everything that is added: `terms[m][r]` came from rank r in its m-th
/// reduction.
using SumTerms = std::vector<std::vector<std::span<const float>>>;

/// Ranks in rank order, then reductions in their order, each addition in fp32.
std::vector<float> sum_in_rank_order(const SumTerms& terms);

/// Ranks over a balanced binary tree, reductions by a binary counter whose remaining sums fold from
/// the smallest to the largest. The number of ranks is a power of two.
std::vector<float> sum_over_tree(const SumTerms& terms);

/// A sum whose order is not known.
struct BoundedSum {
  std::vector<double> sum;
  /// How far n fp32 additions of the terms in any order may lie from it: γ·Σ|x|, γ = n·u / (1 −
  /// n·u), u = 2⁻²⁴ (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2).
  std::vector<double> bound;
};
BoundedSum sum_in_any_order(const SumTerms& terms);

}  // namespace zerolab
