/// \file
/// The cuts: how the flat parameter space is divided into pieces, and each piece among the ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "stages/core/view.h"
#include "stages/kernels/kernels.h"
#include "stages/model/layout.h"

namespace zerolab {

/// Which of a layout's tensors a flat space holds.
enum class TensorKind : std::uint8_t { kTrained, kFrozen };

/// The flat space of a layout's trained (or frozen) parameters, cut into pieces that are
/// communicated as a whole; every piece is N equal slices and slice r belongs to rank r (Megatron's
/// cut). A piece is a bucket (DDP, ZeRO-1, ZeRO-2) or a unit (ZeRO-3).
class Partition {
 public:
  /// Units lie back to back; pieces are buckets of `bucket_elements` rounded up to a multiple of
  /// 32·N, so that only the end of the flat space is padded.
  static Partition by_bucket(const ParameterLayout& layout, int world_size,
                             std::int64_t bucket_elements);
  /// One piece a unit, each padded to a multiple of 32·N.
  static Partition by_unit(const ParameterLayout& layout, int world_size,
                           TensorKind kind = TensorKind::kTrained);

  const ParameterLayout& layout() const { return *layout_; }
  int world_size() const { return world_size_; }
  /// Elements of the flat space, padding included; a multiple of 32·N.
  std::int64_t flat_size() const { return flat_size_; }
  /// Elements that one rank owns: flat_size / N.
  std::int64_t owned_size() const { return flat_size_ / world_size_; }
  std::size_t unit_count() const { return units_.size(); }
  const std::vector<Range>& pieces() const { return pieces_; }
  Range piece(int index) const { return pieces_.at(static_cast<std::size_t>(index)); }
  std::int64_t largest_piece() const;

  /// The unit's place in the flat space, without the padding behind it.
  Range unit(UnitId id) const { return units_.at(static_cast<std::size_t>(id)); }
  /// Indices of the pieces that overlap a flat range.
  std::vector<int> pieces_of(Range flat) const;

  /// Rank's slice of a piece, in the flat space.
  Range slice(int piece, int rank) const;
  /// The same slice in the rank's packed shard buffer [0, owned_size): slices lie back to back in
  /// piece order.
  Range in_shard(int piece) const;

  /// Real elements (no gaps, no padding) of a flat range, tensor by tensor; `flat_begin` counts
  /// from the range's begin.
  std::vector<Segment> segments(Range flat) const;

 private:
  Partition(const ParameterLayout& layout, int world_size, TensorKind kind);

  const ParameterLayout* layout_;
  int world_size_;
  TensorKind kind_;
  std::int64_t flat_size_ = 0;
  std::vector<Range> pieces_;
  std::vector<Range> units_;
};

}  // namespace zerolab
