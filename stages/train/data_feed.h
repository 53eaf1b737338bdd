/// \file
/// Brings micro-batches onto the device.
#pragma once

#include <cstdint>
#include <vector>

#include "stages/data/batch_source.h"
#include "stages/device/device.h"
#include "stages/kernels/kernels.h"
#include "stages/model/model.h"

namespace zerolab {

/// Uploads micro-batches of a source into one pair of device buffers, in stream order: a batch is
/// valid on the compute stream until the next one.
class DataFeed {
 public:
  DataFeed(const BatchSource& source, Device& device, Stream& compute, Kernels& kernels);

  /// Global micro-batch `index` of `step` (from 1).
  Batch training(std::int64_t step, std::int64_t index);
  /// Held-out micro-batch `index` (modulo how many there are), the same at every evaluation.
  Batch held_out(std::int64_t index);

  /// Where the sequences of the last batch begin in the data.
  const std::vector<std::int64_t>& positions() const { return host_.positions; }
  /// Whether micro-batches may hold unequal numbers of targets that count.
  bool uneven() const { return source_.shape().uneven; }
  /// Targets (tokens, or regression terms) that count in a micro-batch of training or held-out
  /// data.
  std::int64_t valid(std::int64_t step, std::int64_t index) const {
    return source_.valid_targets(step, index);
  }
  std::int64_t valid_held_out(std::int64_t index) const {
    return source_.valid_held_out(index % source_.held_out_count());
  }

 private:
  Batch upload(std::int64_t step);

  const BatchSource& source_;
  Stream& compute_;
  Kernels& kernels_;
  HostBatch host_;
  Buffer inputs_, targets_;
};

}  // namespace zerolab
