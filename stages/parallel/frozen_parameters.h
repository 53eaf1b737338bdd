/// \file
/// Parameters that are not trained: what each rank holds of them.
#pragma once

#include <vector>

#include "stages/parallel/owned_slices.h"
#include "stages/parallel/stage_parts.h"

namespace zerolab {

/// Whole on every rank. They never change, so nothing of them is ever communicated.
class FrozenParameters {
 public:
  explicit FrozenParameters(const StageParts& parts);

  /// A unit's, `layout.unit(id).frozen_size` elements.
  View unit(UnitId id) const { return values_.slice(partition_.unit(id)); }
  const std::vector<OwnedSlice>& slices() const { return slices_; }

 private:
  Partition partition_;
  Buffer values_;
  std::vector<OwnedSlice> slices_;
};

/// Of each unit a slice on every rank; a unit is gathered whole when it is used.
class FrozenShard {
 public:
  explicit FrozenShard(const StageParts& parts);

  /// Starts to gather a unit's on the communication stream; at least `frozen_size` elements, empty
  /// where it has none. The parts are those of the constructor.
  Buffer gather(const StageParts& parts, UnitId id) const;
  const std::vector<OwnedSlice>& slices() const { return slices_; }

 private:
  Partition partition_;
  Buffer values_;
  std::vector<OwnedSlice> slices_;
};

}  // namespace zerolab
