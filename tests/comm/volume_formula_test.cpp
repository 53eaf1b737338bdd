// The formulas against numbers that can be worked out by hand, and against each other.
#include "stages/comm/volume_formula.h"

#include <gtest/gtest.h>

namespace zerolab {
namespace {

constexpr Reduction kOrders[] = {Reduction::kOrdered, Reduction::kTree, Reduction::kRing};
constexpr WireKind kWires[] = {WireKind::kPeerView, WireKind::kMessages};

TEST(VolumeFormula, AnAllReduceSendsTwiceTheArrayButOneNthWhateverTheOrder) {
  for (const Reduction reduction : kOrders) {
    for (const WireKind wire : kWires) {
      const GroupShape group = world_shape(4, 0, wire, reduction);
      const CallShape call{CollectiveOp::kAllReduce, 1000, DType::kFloat32, -1};
      for (int rank = 0; rank < 4; ++rank) {
        EXPECT_EQ(predicted_volume(group, call, rank).sent(), 2 * 3 * 250 * 4);
        EXPECT_EQ(predicted_volume(group, call, rank).received(), 2 * 3 * 250 * 4);
      }
    }
  }
}

TEST(VolumeFormula, ReduceScatterAndAllGatherMakeOneAllReduce) {
  for (const Reduction reduction : kOrders) {
    const GroupShape group = world_shape(3, 2, WireKind::kMessages, reduction);
    for (int rank = 0; rank < 3; ++rank) {
      const auto volume = [&](CollectiveOp op) {
        return predicted_volume(group, {op, 99, DType::kBFloat16, -1}, rank);
      };
      Volume sum = volume(CollectiveOp::kReduceScatter);
      sum += volume(CollectiveOp::kAllGather);
      sum.calls = 1;
      EXPECT_EQ(sum, volume(CollectiveOp::kAllReduce));
    }
  }
}

TEST(VolumeFormula, PiecesOfACountThatDoesNotDivideAreCountedExactly) {
  // 5 elements on 3 ranks are pieces of 1, 2 and 2.
  const GroupShape group = world_shape(3, 0, WireKind::kPeerView, Reduction::kOrdered);
  const CallShape call{CollectiveOp::kAllReduce, 5, DType::kFloat32, -1};
  EXPECT_EQ(predicted_volume(group, call, 0).sent(), (4 + 2 * 1) * 4);
  EXPECT_EQ(predicted_volume(group, call, 1).sent(), (3 + 2 * 2) * 4);
  EXPECT_EQ(predicted_volume(group, call, 0).received(), (2 * 1 + 4) * 4);
}

TEST(VolumeFormula, ARingCrossesANodeOnceWhereAPairwiseExchangeCrossesOften) {
  // Two nodes of 4: rank 3 hands on to rank 4 and rank 7 to rank 0; pairwise, everybody sends to
  // the 4 ranks of the other node.
  const CallShape call{CollectiveOp::kReduceScatter, 800, DType::kFloat32, -1};
  std::int64_t ring = 0;
  std::int64_t pairwise = 0;
  for (int rank = 0; rank < 8; ++rank) {
    ring += predicted_volume(world_shape(8, 4, WireKind::kMessages, Reduction::kRing), call, rank)
                .sent_inter;
    pairwise +=
        predicted_volume(world_shape(8, 4, WireKind::kMessages, Reduction::kOrdered), call, rank)
            .sent_inter;
  }
  EXPECT_EQ(ring, 2 * 700 * 4);
  EXPECT_EQ(pairwise, 8 * 4 * 100 * 4);
}

TEST(VolumeFormula, ABroadcastReachesEveryRankOnce) {
  for (const WireKind wire : kWires) {
    for (const int ranks : {1, 2, 3, 6, 8}) {
      std::int64_t sent = 0;
      std::int64_t received = 0;
      const GroupShape group = world_shape(ranks, 0, wire, Reduction::kOrdered);
      for (int rank = 0; rank < ranks; ++rank) {
        const Volume volume = predicted_volume(
            group, {CollectiveOp::kBroadcast, 10, DType::kFloat64, ranks / 2}, rank);
        sent += volume.sent();
        received += volume.received();
      }
      EXPECT_EQ(sent, (ranks - 1) * 80);
      EXPECT_EQ(received, (ranks - 1) * 80);
    }
  }
}

TEST(VolumeFormula, GatheringAScalarSendsItToEveryOtherRank) {
  const GroupShape group = world_shape(5, 0, WireKind::kPeerView, Reduction::kOrdered);
  EXPECT_EQ(predicted_volume(group, {CollectiveOp::kAllGather, 5, DType::kFloat64, -1}, 3).sent(),
            4 * 8);
}

TEST(VolumeFormula, OneRankSendsNothing) {
  for (const CollectiveOp op : {CollectiveOp::kAllReduce, CollectiveOp::kAllGather,
                                CollectiveOp::kReduceScatter, CollectiveOp::kAllToAll}) {
    const GroupShape group = world_shape(1, 0, WireKind::kMessages, Reduction::kOrdered);
    EXPECT_EQ(predicted_volume(group, {op, 64, DType::kFloat32, -1}, 0).sent(), 0);
  }
}

TEST(StagingFormula, GrowsWithTheRanksWhereAllTermsWaitAtOnce) {
  constexpr std::int64_t kSlot = 262144;
  const auto bytes = [](int ranks, WireKind wire, Reduction reduction) {
    return staging_bytes(world_shape(ranks, 0, wire, reduction));
  };
  EXPECT_EQ(bytes(8, WireKind::kMessages, Reduction::kOrdered), 7 * kSlot);
  EXPECT_EQ(bytes(8, WireKind::kMessages, Reduction::kTree), 7 * kSlot);
  EXPECT_EQ(bytes(8, WireKind::kMessages, Reduction::kRing), kSlot);
  EXPECT_EQ(bytes(8, WireKind::kMessages, Reduction::kNative), 0);
  EXPECT_EQ(bytes(8, WireKind::kPeerView, Reduction::kOrdered), 0);
  EXPECT_EQ(bytes(1, WireKind::kMessages, Reduction::kOrdered), 0);
}

}  // namespace
}  // namespace zerolab
