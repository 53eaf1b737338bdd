#include "stages/parallel/completion.h"

namespace zerolab {

void Completion::begin(std::span<const Use> uses) {
  next_unit_ = 0;
  next_piece_ = 0;
  complete_.assign(partition_->unit_count(), true);
  for (const Use& use : uses) {
    if (use.completes_gradient) complete_[static_cast<std::size_t>(use.unit)] = false;
  }
}

std::vector<UnitId> Completion::units_in_turn(UnitId completed) {
  complete_.at(static_cast<std::size_t>(completed)) = true;
  std::vector<UnitId> units;
  while (next_unit_ < static_cast<UnitId>(complete_.size()) &&
         complete_[static_cast<std::size_t>(next_unit_)]) {
    units.push_back(next_unit_++);
  }
  return units;
}

std::vector<int> Completion::pieces_in_turn(UnitId completed) {
  units_in_turn(completed);
  const bool all = next_unit_ == static_cast<UnitId>(complete_.size());
  const std::int64_t prefix = all ? partition_->flat_size() : partition_->unit(next_unit_).begin;
  std::vector<int> pieces;
  while (next_piece_ < static_cast<int>(partition_->pieces().size()) &&
         partition_->piece(next_piece_).end <= prefix) {
    pieces.push_back(next_piece_++);
  }
  return pieces;
}

}  // namespace zerolab
