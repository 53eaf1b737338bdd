/// \file
/// A regression task that is drawn, not read: for tied-mlp.
#pragma once

#include "stages/data/batch_source.h"

namespace zerolab {

struct RegressionSettings {
  std::int64_t width = 1;                   ///< features of inputs and targets
  std::int64_t batch = 1;                   ///< B, samples a micro-batch
  std::int64_t micro_batches_per_step = 1;  ///< N·K
  std::uint64_t seed = 0;
};

/// Sample n is a function of (seed, n): inputs x are N(0, 1); target j is x[(j+1) mod width] / 2
/// plus noise N(0, 0.1²). A linear network can learn the shift, so the loss falls towards 0.01 a
/// term. Sequence s of step t's global batch of G samples is sample (t−1)·G + s: no sample comes
/// twice. Held-out samples have numbers from 2⁶² up, which training never reaches.
class RegressionBatches final : public BatchSource {
 public:
  /// \throws BadInput when an extent is not positive.
  explicit RegressionBatches(const RegressionSettings& settings);

  BatchShape shape() const override;
  void training(std::int64_t step, std::int64_t global_micro_batch,
                HostBatch& batch) const override;
  std::int64_t held_out_count() const override;
  void held_out(std::int64_t index, HostBatch& batch) const override;

 private:
  void draw(std::int64_t first_sample, HostBatch& batch) const;

  RegressionSettings settings_;
};

}  // namespace zerolab
