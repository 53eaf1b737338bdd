/// \file
/// Closed formulas for the bytes that a collective sends and receives on one rank, written apart
/// from the code that moves and counts them. Tests demand equality to the byte.
#pragma once

#include <cstdint>
#include <vector>

#include "stages/comm/comm_ledger.h"
#include "stages/comm/communicator.h"

namespace zerolab {

/// How bytes travel: peers read each other's buffers (thread), or messages (mpi).
enum class WireKind : std::uint8_t { kPeerView, kMessages };

/// The group a call is made in.
struct GroupShape {
  WireKind wire = WireKind::kPeerView;
  Reduction reduction = Reduction::kOrdered;
  std::vector<int> node;  ///< the node of each member

  int size() const { return static_cast<int>(node.size()); }
};

/// `world_size` ranks, `ranks_per_node` to a node (0: all on one).
GroupShape world_shape(int world_size, int ranks_per_node, WireKind wire, Reduction reduction);

struct CallShape {
  CollectiveOp op{};
  std::int64_t count = 0;  ///< elements of the full array; a multiple of N except for all-reduce,
                           ///< broadcast, send and receive
  DType dtype{};
  int peer = -1;  ///< the root of a broadcast, the peer of a send or receive
};

/// What `rank` sends and receives in one call; `calls` is 1. With reduction `native` the ring's
/// formula stands in for reductions and all-gathers.
Volume predicted_volume(const GroupShape& group, const CallShape& call, int rank);

/// What comparing the call's header costs in checked mode (booked as `checks`).
Volume predicted_header_volume(const GroupShape& group, const CallShape& call, int rank);

/// Category kCommunicationStaging of one communicator: where received terms wait to be added.
/// ordered, tree: (N−1)·256 KiB; ring: 256 KiB; 0 where peers read in place, for native and N = 1.
std::int64_t staging_bytes(const GroupShape& group);

}  // namespace zerolab
