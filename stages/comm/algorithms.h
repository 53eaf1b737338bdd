/// \file
/// The collectives, written once over a Transport. Called on the communication worker inside an
/// open call.
///
/// An array of `count` elements is cut into N pieces, piece i belonging to rank i; pieces are equal
/// where N divides the count. All orders of a reduction have the ring's volume, (N−1)/N of the
/// array sent by each rank:
///  - ordered, tree: every rank receives its own piece of all ranks (pairwise exchange) and adds it
///    up, in rank order or over a balanced tree;
///  - ring: piece i starts at rank i+1 and passes through all ranks to rank i, each adding its own
///    (Patarasuk and Yuan, 2009). Partial sums are rounded to the dtype at each hop.
#pragma once

#include <span>

#include "stages/comm/communicator.h"
#include "stages/comm/transport.h"
#include "stages/core/view.h"

namespace zerolab {

/// What an algorithm works with, besides the arrays.
struct Wire {
  Transport& transport;
  Reduction reduction = Reduction::kOrdered;
  std::span<std::byte> staging;  ///< `staging_bytes` long; where received terms wait to be added
};

/// Bytes of a message of a reduction where memory is not shared: one slot of the staging.
inline constexpr std::int64_t kSegmentBytes = std::int64_t{256} * 1024;

/// Piece `index` of `count` elements cut into `pieces`.
constexpr Range piece_of(std::int64_t count, int pieces, int index) {
  return {count * index / pieces, count * (index + 1) / pieces};
}

/// The calls below require that `open` has published `array`.

/// Leaves the sum of this rank's piece in `out`, which may be this rank's piece of `array`. The
/// ring overwrites the other pieces with partial sums.
void reduce_pieces(const Wire& wire, View array, View out);
/// Fills the other ranks' pieces; this rank's own is filled on entry to `open`.
void gather_pieces(const Wire& wire, View array);
/// array = sum over ranks
void all_reduce(const Wire& wire, View array);
/// Peers read the root's array, or messages pass along a binomial tree.
void broadcast(Transport& transport, View array, int root);
/// Slice i of `output` = this rank's slice of rank i's `array`.
void all_to_all(Transport& transport, View array, View output);

}  // namespace zerolab
