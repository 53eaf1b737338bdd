/// \file
/// LAMB (You et al. 2020, Large batch optimization for deep learning, arXiv 1904.00962).
#pragma once

#include "stages/optim/slice_optimizer.h"

namespace zerolab {

/// AdamW's direction, scaled for each tensor by its *trust ratio* (algorithm 2):
///
///     u = m̂ / (√v̂ + ε) + weight_decay · w        m̂, v̂ with bias correction, as in the paper
///     w = w − learning_rate · ‖w‖ / ‖u‖ · u
///
/// Conventions, where implementations differ: φ is the identity (no clamp of ‖w‖), the ratio is 1
/// where either norm is 0 (biases start from 0), and every tensor has a ratio, biases and norms
/// too.
///
/// A norm needs the whole tensor, whoever holds its elements. Each rank adds up its own elements'
/// squares, order-free (every partial sum is exact), and the ranks gather each other's sums: 8
/// bytes of maxima and 48 of sums a tensor from each rank to each other, nothing where every rank
/// holds everything. So the bits do not depend on the cut. With LambNorms::kShard nothing is
/// gathered and the ratio is that of the rank's own elements.
class Lamb final : public SliceOptimizer {
 public:
  Lamb(const OptimizerSettings& settings, const OptimizerParts& parts);

 protected:
  void prepare(const std::vector<UpdateSlice>& slices, View factor,
               const StepSettings& settings) override;
  void update_slice(const UpdateSlice& slice, View factor, const StepSettings& settings) override;

 private:
  View agreed_maxima();
  void agree_on_ratios();

  std::int64_t tensors_;
  std::int64_t largest_count_;  // elements of the largest tensor
  bool gathers_;
  Buffer direction_;                        // (size) u
  Buffer maxima_, sums_;                    // of w, then of u; (2·tensors) and (2·tensors, 3)
  Buffer all_maxima_, all_sums_, largest_;  // of all ranks; only where they are gathered
  Buffer ratios_;                           // (tensors)
  std::vector<GroupRule> rates_;            // the groups' learning rates; their decay is part of u
};

}  // namespace zerolab
