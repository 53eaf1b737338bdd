/// \file
/// Micro-batches of a token model, and the rule by which positions are drawn.
#pragma once

#include "stages/data/batch_source.h"
#include "stages/data/token_source.h"

namespace zerolab {

/// How large the batches are and how they are drawn.
struct TokenBatchSettings {
  std::int64_t batch = 1;                   ///< B, sequences a micro-batch
  std::int64_t time = 1;                    ///< T
  std::int64_t micro_batches_per_step = 1;  ///< N·K
  std::uint64_t seed = 0;
};

/// Draws windows of T + 1 tokens: inputs are the first T, targets the last T.
///
/// The rule. The training part is cut into W = ⌊(tokens − 1) / T⌋ windows that begin T apart, so
/// that every target belongs to one window. A global batch has G = N·K·B sequences; sequence b of
/// micro-batch g has number s = g·B + b. ⌊W / G⌋ steps (at least one) make a pass, and each pass
/// visits the windows in an order of its own, Permutation(W, seed, pass):
///   window = order((i·G + s) mod W), i = the step's place in its pass.
/// So a batch depends on the seed, the step and s, not on who reads it; the sequences of a step,
/// and of a pass, are disjoint (unless G > W); and the rest of W that does not fill a step is left
/// out.
class TokenBatches final : public BatchSource {
 public:
  /// `tokens` must outlive this.
  /// \throws BadInput when the training part (the first 90 %) is shorter than T + 1 tokens, or an
  /// extent is not positive.
  TokenBatches(const TokenSource& tokens, const TokenBatchSettings& settings);

  BatchShape shape() const override;
  void training(std::int64_t step, std::int64_t global_micro_batch,
                HostBatch& batch) const override;
  /// The held-out part's windows in order; a last incomplete micro-batch is left out, but for fewer
  /// windows than B they repeat to fill one.
  std::int64_t held_out_count() const override;
  void held_out(std::int64_t index, HostBatch& batch) const override;

  /// W of the training part.
  std::int64_t windows() const { return windows_; }
  std::int64_t steps_per_pass() const;
  /// Where sequence `sequence` of step `step`'s global batch begins in the data.
  std::int64_t position(std::int64_t step, std::int64_t sequence) const;

 private:
  void read(HostBatch& batch) const;

  const TokenSource& tokens_;
  TokenBatchSettings settings_;
  TokenSplit split_;
  std::int64_t windows_ = 0;
  std::int64_t held_out_windows_ = 0;
};

}  // namespace zerolab
