// Let n be the ranks, S the array's elements, len(i) = ⌊S(i+1)/n⌋ − ⌊S·i/n⌋ the length of piece i,
// and r the rank. Per peer p ≠ r:
//
//   pairwise reduce (ordered, tree)  sends len(p) to p, receives len(r) from p
//   pairwise gather                  sends len(r) to p, receives len(p) from p
//   ring reduce                      sends S − len(r) to r+1, receives S − len(r−1) from r−1
//   ring gather                      sends S − len(r+1) to r+1, receives S − len(r) from r−1
//
// An all-reduce is a reduce and a gather. Summed over p, each line is (n−1)/n of S where n divides
// S.
#include "stages/comm/volume_formula.h"

#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr std::int64_t kHeaderBytes = 128;
constexpr std::int64_t kStagingSlotBytes = 262144;

class Tally {
 public:
  Tally(const GroupShape& group, int rank, std::int64_t element_bytes)
      : group_(group), rank_(rank), element_bytes_(element_bytes) {
    volume_.calls = 1;
  }
  void send(int peer, std::int64_t elements) {
    (same_node(peer) ? volume_.sent_intra : volume_.sent_inter) += elements * element_bytes_;
  }
  void receive(int peer, std::int64_t elements) {
    (same_node(peer) ? volume_.received_intra : volume_.received_inter) +=
        elements * element_bytes_;
  }
  Volume volume() const { return volume_; }

 private:
  bool same_node(int peer) const {
    return group_.node[static_cast<std::size_t>(peer)] ==
           group_.node[static_cast<std::size_t>(rank_)];
  }
  const GroupShape& group_;
  int rank_;
  std::int64_t element_bytes_;
  Volume volume_;
};

bool is_ring(const GroupShape& group) {
  return group.reduction == Reduction::kRing || group.reduction == Reduction::kNative;
}

void broadcast(const GroupShape& group, const CallShape& call, int rank, Tally& tally) {
  const int n = group.size();
  if (group.wire == WireKind::kPeerView) {  // everybody reads the root's array
    for (int peer = 0; peer < n; ++peer) {
      if (rank == call.peer && peer != rank) tally.send(peer, call.count);
    }
    if (rank != call.peer) tally.receive(call.peer, call.count);
    return;
  }
  // Binomial tree: place p (counted from the root) hears from p minus its lowest set bit, and tells
  // p + 2^k for every 2^k below that bit.
  const int place = (rank - call.peer + n) % n;
  for (int other = 1; other < n; ++other) {
    const int parent = other - (other & -other);
    if (parent == place) tally.send((other + call.peer) % n, call.count);
    if (other == place) tally.receive((parent + call.peer) % n, call.count);
  }
}

}  // namespace

GroupShape world_shape(int world_size, int ranks_per_node, WireKind wire, Reduction reduction) {
  GroupShape group{wire, reduction, {}};
  for (int rank = 0; rank < world_size; ++rank) {
    group.node.push_back(ranks_per_node > 0 ? rank / ranks_per_node : 0);
  }
  return group;
}

Volume predicted_volume(const GroupShape& group, const CallShape& call, int rank) {
  const int n = group.size();
  const std::int64_t s = call.count;
  Tally tally(group, rank, static_cast<std::int64_t>(size_of(call.dtype)));
  const auto len = [&](int i) {
    const std::int64_t piece = ((i % n) + n) % n;
    return s * (piece + 1) / n - s * piece / n;
  };
  const int left = (rank + n - 1) % n;
  const int right = (rank + 1) % n;
  const bool reduces =
      call.op == CollectiveOp::kAllReduce || call.op == CollectiveOp::kReduceScatter;
  const bool gathers = call.op == CollectiveOp::kAllReduce || call.op == CollectiveOp::kAllGather;
  if (n == 1) return tally.volume();

  if (reduces && is_ring(group)) {
    tally.send(right, s - len(rank));
    tally.receive(left, s - len(left));
  }
  if (gathers && is_ring(group)) {
    tally.send(right, s - len(right));
    tally.receive(left, s - len(rank));
  }
  for (int peer = 0; peer < n; ++peer) {
    if (peer == rank) continue;
    if (reduces && !is_ring(group)) {
      tally.send(peer, len(peer));
      tally.receive(peer, len(rank));
    }
    if (gathers && !is_ring(group)) {
      tally.send(peer, len(rank));
      tally.receive(peer, len(peer));
    }
    if (call.op == CollectiveOp::kAllToAll) {
      tally.send(peer, s / n);
      tally.receive(peer, s / n);
    }
  }
  if (call.op == CollectiveOp::kBroadcast) broadcast(group, call, rank, tally);
  if (call.op == CollectiveOp::kSend) tally.send(call.peer, s);
  if (call.op == CollectiveOp::kRecv) tally.receive(call.peer, s);
  return tally.volume();
}

Volume predicted_header_volume(const GroupShape& group, const CallShape& call, int rank) {
  if (group.size() == 1) return {};
  Tally tally(group, rank, kHeaderBytes);
  if (call.op == CollectiveOp::kSend) {
    tally.send(call.peer, 1);
  } else if (call.op == CollectiveOp::kRecv) {
    tally.receive(call.peer, 1);
  } else {
    for (int peer = 0; peer < group.size(); ++peer) {
      if (peer == rank) continue;
      tally.send(peer, 1);
      tally.receive(peer, 1);
    }
  }
  return tally.volume();
}

std::int64_t staging_bytes(const GroupShape& group) {
  if (group.wire == WireKind::kPeerView || group.size() == 1) return 0;
  switch (group.reduction) {
    case Reduction::kOrdered:
    case Reduction::kTree:
      return (group.size() - 1) * kStagingSlotBytes;
    case Reduction::kRing:
      return kStagingSlotBytes;
    case Reduction::kNative:
      return 0;
  }
  return 0;
}

}  // namespace zerolab
