/// \file
/// Where a training loop gets its micro-batches from, whatever the model reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stages/core/dtype.h"

namespace zerolab {

/// Elements of one micro-batch of one rank.
struct BatchShape {
  DType dtype = DType::kInt32;
  std::int64_t inputs = 0;
  std::int64_t targets = 0;
  bool uneven = false;  ///< some targets may be −1, which does not count
};

/// One micro-batch in host memory. Filled anew by each read; keep it to keep its storage.
struct HostBatch {
  std::vector<std::byte> inputs;
  std::vector<std::byte> targets;
  /// One a sequence or sample: where it begins in the data (tokens), or its number (regression).
  /// Enough, with the seed and the files, to read the same batch elsewhere.
  std::vector<std::int64_t> positions;
  /// Number of the first sequence or sample in the step's global batch; the others follow.
  std::int64_t first_sample = 0;
};

/// Micro-batches by number. A global batch consists of N·K micro-batches; micro-batch m of rank r
/// is number g = m·N + r, so the global batch is the same for every way to write N·K as a product.
/// Immutable: several ranks may read at once.
class BatchSource {
 public:
  virtual ~BatchSource() = default;

  virtual BatchShape shape() const = 0;
  /// Micro-batch number `global_micro_batch` of step `step` (from 1). \throws Failure when a file
  /// can no longer be read.
  virtual void training(std::int64_t step, std::int64_t global_micro_batch,
                        HostBatch& batch) const = 0;
  /// Targets of that micro-batch that count, without reading it.
  virtual std::int64_t valid_targets(std::int64_t /*step*/,
                                     std::int64_t /*global_micro_batch*/) const {
    return shape().targets;
  }
  /// Micro-batches of held-out data; 0 when there is too little of it.
  virtual std::int64_t held_out_count() const = 0;
  virtual void held_out(std::int64_t index, HostBatch& batch) const = 0;
  virtual std::int64_t valid_held_out(std::int64_t /*index*/) const { return shape().targets; }
};

}  // namespace zerolab
