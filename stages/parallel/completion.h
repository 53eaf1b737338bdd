/// \file
/// Which units and buckets are complete, as backward works its way through the flat space.
#pragma once

#include <span>
#include <vector>

#include "stages/model/partition.h"
#include "stages/stage.h"

namespace zerolab {

/// Follows one micro-batch's backward pass. Units are handed on in flat order: a unit that
/// completes early waits for its turn, and one that the micro-batch never completes counts as
/// complete from the start (its gradient is zero on all ranks).
class Completion {
 public:
  explicit Completion(const Partition& partition) : partition_(&partition) {}

  /// Starts a micro-batch whose visits are `uses`.
  void begin(std::span<const Use> uses);

  /// The unit's gradient is complete. Returns the units whose turn has come, in flat order.
  std::vector<UnitId> units_in_turn(UnitId completed);
  /// As above, but returns the pieces that the completed prefix has passed since the last call; the
  /// last completing unit returns all that are left.
  std::vector<int> pieces_in_turn(UnitId completed);

 private:
  const Partition* partition_;
  std::vector<bool> complete_;
  UnitId next_unit_ = 0;
  int next_piece_ = 0;
};

}  // namespace zerolab
