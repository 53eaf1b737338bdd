/// \file
/// Seconds of a collective by the α–β model.
#pragma once

#include <string_view>

#include "experiments/plan/cluster.h"
#include "stages/comm/comm_ledger.h"

namespace zerolab {

/// How the ranks pass the pieces round. n ranks, G a node, M nodes; S bytes of the full array.
///   ring          one ring through all: (n−1)α + (n−1)/n · S/B. Each device has a ring of its own
///                 through its own network card, so B = min(B_node, G · B_network)
///   hierarchical  a ring in the node on S, then rings between nodes on S/G:
///                 (G−1)α + (G−1)/G · S/B_node + (M−1)α' + (M−1)/M · (S/G)/B_network
///   doubling      the same with ⌈log₂M⌉ steps between nodes (recursive halving and doubling)
///   fastest       the fastest of these, as libraries choose
/// An all-reduce is a reduce-scatter and an all-gather.
enum class CollectiveAlgorithm : std::uint8_t { kFastest, kRing, kHierarchical, kDoubling };
inline constexpr int kCollectiveAlgorithmCount = 4;
std::string_view name_of(CollectiveAlgorithm algorithm);

/// One rank sends to itself: 0. `bytes` is S.
double collective_seconds(const Cluster& cluster, CollectiveAlgorithm algorithm, CollectiveOp op,
                          double bytes);

/// So many messages between pairs of ranks, one after another, of `bytes` together: over the
/// network where there are several nodes.
double messages_seconds(const Cluster& cluster, double messages, double bytes);

/// Bytes a second by the convention of nccl-tests: S · factor / seconds, factor (n−1)/n or, for an
/// all-reduce, 2(n−1)/n.
double bus_bandwidth(CollectiveOp op, double ranks, double bytes, double seconds);

}  // namespace zerolab
