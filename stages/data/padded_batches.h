/// \file
/// Sequences that end in padding, so that ranks and micro-batches hold unequal numbers of tokens.
#pragma once

#include <memory>

#include "stages/data/batch_source.h"

namespace zerolab {

struct PaddingSettings {
  std::int64_t batch = 1;  ///< B, sequences a micro-batch
  double part = 0;         ///< P, of a sequence that may be padding; in [0, 1]
  std::uint64_t seed = 0;
};

/// Keeps the first n targets of each sequence of T and sets the others to −1, which no loss counts.
/// n is drawn evenly from T − ⌊P·T⌋ … T, by Philox from (seed, step, sample), so it does not depend
/// on who reads the sequence. Inputs stay: no target that counts sees a later one.
class PaddedBatches final : public BatchSource {
 public:
  /// \throws BadInput unless P is in [0, 1].
  PaddedBatches(std::unique_ptr<BatchSource> tokens, const PaddingSettings& settings);

  BatchShape shape() const override;
  void training(std::int64_t step, std::int64_t global_micro_batch,
                HostBatch& batch) const override;
  std::int64_t valid_targets(std::int64_t step, std::int64_t global_micro_batch) const override;
  std::int64_t held_out_count() const override { return tokens_->held_out_count(); }
  void held_out(std::int64_t index, HostBatch& batch) const override;
  std::int64_t valid_held_out(std::int64_t index) const override;

 private:
  /// n of sample `sample` of a step; step 0 holds the held-out samples.
  std::int64_t valid(std::int64_t step, std::int64_t sample) const;
  std::int64_t valid_of(std::int64_t step, std::int64_t micro_batch) const;
  void pad(std::int64_t step, HostBatch& batch) const;

  std::unique_ptr<BatchSource> tokens_;
  PaddingSettings settings_;
  std::int64_t time_;   // T
  std::int64_t least_;  // T − ⌊P·T⌋
};

}  // namespace zerolab
