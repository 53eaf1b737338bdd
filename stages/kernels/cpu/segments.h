/// \file
/// Walking the segments of a slice: tensors without the padding between them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "stages/kernels/cpu/thread_team.h"
#include "stages/kernels/kernels.h"

namespace zerolab::cpu {

/// Cuts the segments into pieces of at most `grain` elements. A piece is a segment, too.
inline std::vector<Segment> pieces_of(const std::vector<Segment>& segments, std::int64_t grain) {
  std::vector<Segment> pieces;
  for (const Segment& segment : segments) {
    for (std::int64_t done = 0; done < segment.count; done += grain) {
      Segment piece = segment;
      piece.tensor_begin += done;
      piece.flat_begin += done;
      piece.count = std::min(grain, segment.count - done);
      pieces.push_back(piece);
    }
  }
  return pieces;
}

}  // namespace zerolab::cpu
