/// \file
/// The sum over ranks and micro-batches, recomputed on the host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stages/core/dtype.h"

namespace zerolab {

/// The same elements of everything that is added: `terms[m][r]` came from rank r in its m-th
/// reduction.
using SumTerms = std::vector<std::vector<std::span<const float>>>;

/// Where values are rounded on the way. Additions are fp32.
struct SumTypes {
  DType travelling = DType::kFloat32;    ///< each term, and each reduction's sum once
  DType accumulators = DType::kFloat32;  ///< each partial sum over several reductions
};

/// Ranks in rank order, then reductions in their order.
std::vector<float> sum_in_rank_order(const SumTerms& terms, SumTypes types = {});

/// Ranks over a balanced binary tree, reductions by a binary counter whose remaining sums fold from
/// the smallest to the largest. The number of ranks is a power of two.
std::vector<float> sum_over_tree(const SumTerms& terms, SumTypes types = {});

/// How far a sum of n terms in any order may lie from the exact one, relative to Σ|x|: γ = k·u / (1
/// − k·u) (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2). In fp32 k = n − 1
/// additions are rounded with u = 2⁻²⁴. With 16 bits each term is rounded, and each partial sum may
/// be, in fp32 and again: k = 2n, u = 2⁻⁸ (bf16) or 2⁻¹¹ (fp16) plus 2⁻²⁴. Infinity where k·u
/// reaches 1: so many roundings have no bound.
double relative_bound(std::int64_t terms, SumTypes types);

/// A sum whose order is not known.
struct BoundedSum {
  std::vector<double> sum;
  /// How far a sum in any order may lie from it: `relative_bound` times Σ|x|; below fp16's normal
  /// range each rounding is off by 2⁻²⁵ instead.
  std::vector<double> bound;
  std::vector<double> magnitude;  ///< Σ|x|, which no partial sum exceeds but by the bound
};
BoundedSum sum_in_any_order(const SumTerms& terms, SumTypes types = {});

}  // namespace zerolab
