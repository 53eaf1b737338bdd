#include "stages/parallel/owned_slices.h"

namespace zerolab {

std::vector<OwnedSlice> slices_in_full(const Partition& partition, int rank, View full) {
  std::vector<OwnedSlice> slices;
  for (int i = 0; i < static_cast<int>(partition.pieces().size()); ++i) {
    const Range flat = partition.slice(i, rank);
    slices.push_back({full.slice(flat), partition.segments(flat), false});
  }
  return slices;
}

std::vector<OwnedSlice> slices_in_shard(const Partition& partition, int rank, View shard) {
  std::vector<OwnedSlice> slices;
  if (shard.empty()) return slices;
  for (int i = 0; i < static_cast<int>(partition.pieces().size()); ++i) {
    const Range flat = partition.slice(i, rank);
    if (flat.empty()) continue;  // a unit without parameters of this part
    slices.push_back({shard.slice(partition.in_shard(i)), partition.segments(flat), false});
  }
  return slices;
}

std::vector<OwnedSlice> replicated_slices(const Partition& partition, View full) {
  std::vector<OwnedSlice> slices;
  if (full.empty()) return slices;
  for (const Range& piece : partition.pieces()) {
    if (piece.empty()) continue;
    slices.push_back({full.slice(piece), partition.segments(piece), true});
  }
  return slices;
}

void visit_each(const std::vector<OwnedSlice>& slices, const OwnedVisitor& visitor) {
  for (const OwnedSlice& slice : slices) visitor(slice);
}

}  // namespace zerolab
