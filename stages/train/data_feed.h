/// \file
/// Brings micro-batches onto the device.
#pragma once

#include <cstdint>
#include <vector>

#include "stages/device/stream.h"
#include "stages/model/model.h"

namespace zerolab {

/// Micro-batches by their global index, so that global batches do not depend on the world size.
class DataFeed {
 public:
  virtual ~DataFeed() = default;
  /// Uploads global micro-batch `index` of `step` (from 1); valid on the stream until the next
  /// call.
  virtual Batch training(Stream& stream, std::int64_t step, std::int64_t index,
                         std::int64_t micro_batches_per_step) = 0;
  /// Uploads held-out micro-batch `index`, the same at every evaluation.
  virtual Batch held_out(Stream& stream, std::int64_t index) = 0;
  /// Where the sequences of the last `training` batch start in the data.
  virtual const std::vector<std::int64_t>& positions() const = 0;
  /// Tokens (or samples) in one micro-batch.
  virtual std::int64_t tokens() const = 0;
};

}  // namespace zerolab
