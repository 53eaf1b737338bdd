#include "stages/model/partition.h"

#include <algorithm>

#include "stages/core/error.h"

namespace zerolab {

Partition::Partition(const ParameterLayout& layout, int world_size, TensorKind kind)
    : layout_(&layout), world_size_(world_size), kind_(kind) {
  require(world_size >= 1, "[partition] world size {} is below 1", world_size);
}

Partition Partition::by_bucket(const ParameterLayout& layout, int world_size,
                               std::int64_t bucket_elements) {
  if (bucket_elements < 1) {
    bad_input("[partition] a bucket of {} elements cannot hold a gradient; give at least 1",
              bucket_elements);
  }
  Partition cut(layout, world_size, TensorKind::kTrained);
  for (const UnitLayout& unit : layout.units()) {
    cut.units_.push_back({cut.flat_size_, cut.flat_size_ + unit.size});
    cut.flat_size_ += unit.size;
  }
  const std::int64_t grain = kTensorAlignment * world_size;
  cut.flat_size_ = round_up(cut.flat_size_, grain);
  const std::int64_t length = std::min(round_up(bucket_elements, grain), cut.flat_size_);
  for (std::int64_t begin = 0; begin < cut.flat_size_; begin += length) {
    cut.pieces_.push_back({begin, std::min(begin + length, cut.flat_size_)});
  }
  return cut;
}

Partition Partition::by_unit(const ParameterLayout& layout, int world_size, TensorKind kind) {
  Partition cut(layout, world_size, kind);
  for (const UnitLayout& unit : layout.units()) {
    const std::int64_t begin = cut.flat_size_;
    const std::int64_t size = kind == TensorKind::kFrozen ? unit.frozen_size : unit.size;
    cut.units_.push_back({begin, begin + size});
    cut.flat_size_ += round_up(size, kTensorAlignment * world_size);
    cut.pieces_.push_back({begin, cut.flat_size_});
  }
  return cut;
}

std::int64_t Partition::largest_piece() const {
  std::int64_t largest = 0;
  for (const Range& piece : pieces_) largest = std::max(largest, piece.size());
  return largest;
}

std::vector<int> Partition::pieces_of(Range flat) const {
  std::vector<int> found;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (!intersect(pieces_[i], flat).empty()) found.push_back(static_cast<int>(i));
  }
  return found;
}

Range Partition::slice(int index, int rank) const {
  const std::int64_t length = piece(index).size() / world_size_;
  const std::int64_t begin = piece(index).begin + rank * length;
  return {begin, begin + length};
}

Range Partition::in_shard(int index) const {
  // Every earlier piece left 1/N of itself in the shard, without remainder.
  return {piece(index).begin / world_size_, piece(index).end / world_size_};
}

std::vector<Segment> Partition::segments(Range flat) const {
  std::vector<Segment> found;
  for (std::size_t u = 0; u < units_.size(); ++u) {
    if (intersect(units_[u], flat).empty()) continue;
    for (const TensorPlace& place : layout_->units()[u].places) {
      const TensorSpec& tensor = layout_->tensor(place.tensor);
      if (tensor.frozen != (kind_ == TensorKind::kFrozen)) continue;
      const std::int64_t begin = units_[u].begin + place.offset;
      const Range overlap = intersect({begin, begin + tensor.count()}, flat);
      if (overlap.empty()) continue;
      found.push_back({place.tensor, overlap.begin - begin, overlap.begin - flat.begin,
                       overlap.size(), tensor.group});
    }
  }
  return found;
}

}  // namespace zerolab
