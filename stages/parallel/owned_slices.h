/// \file
/// The slices of a buffer that a rank owns, piece by piece, with the real elements in each.
#pragma once

#include <vector>

#include "stages/model/partition.h"
#include "stages/stage.h"

namespace zerolab {

/// This rank's slice of every piece of a full buffer (flat_size elements).
std::vector<OwnedSlice> slices_in_full(const Partition& partition, int rank, View full);

/// The same slices in a packed shard buffer (owned_size elements); none of a state that is not
/// held.
std::vector<OwnedSlice> slices_in_shard(const Partition& partition, int rank, View shard);

/// Every piece of a full buffer of which each rank holds the same copy; none of a state that is not
/// held.
std::vector<OwnedSlice> replicated_slices(const Partition& partition, View full);

/// Hands the slices to the visitor, one at a time.
void visit_each(const std::vector<OwnedSlice>& slices, const OwnedVisitor& visitor);

}  // namespace zerolab
