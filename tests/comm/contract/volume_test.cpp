// The ledger: what the transport has counted equals the closed formulas to the byte.
#include <numeric>

#include "tests/comm/contract/ranks.h"

namespace zerolab {
namespace {

class VolumeContract : public CommunicatorContract {
 protected:
  CommSettings settings_with(int ranks_per_node, bool checked = true) const {
    CommSettings result = settings();
    result.ranks_per_node = ranks_per_node;
    result.checked = checked;
    return result;
  }
  GroupShape shape(int ranks_per_node) const {
    return world_shape(size(), ranks_per_node, contract_wire(), GetParam().reduction);
  }
};

struct Counted {
  Volume payload, headers;
};

// The books of one call.
Counted count_call(Rank& rank, CollectiveOp op, const std::function<void()>& call) {
  const auto line = [&](Traffic traffic) {
    return rank.comm.ledger()
        .totals()[static_cast<std::size_t>(traffic)][static_cast<std::size_t>(op)];
  };
  const auto less = [](Volume after, const Volume& before) {
    after.calls -= before.calls;
    after.sent_intra -= before.sent_intra;
    after.sent_inter -= before.sent_inter;
    after.received_intra -= before.received_intra;
    after.received_inter -= before.received_inter;
    return after;
  };
  rank.stream.synchronize();
  const Volume payload = line(Traffic::kTraining);
  const Volume headers = line(Traffic::kChecks);
  call();
  rank.stream.synchronize();
  return {less(line(Traffic::kTraining), payload), less(line(Traffic::kChecks), headers)};
}

void expect_volume(const Volume& counted, const Volume& predicted, const std::string& what) {
  EXPECT_EQ(counted.calls, predicted.calls) << what;
  EXPECT_EQ(counted.sent_intra, predicted.sent_intra) << what;
  EXPECT_EQ(counted.sent_inter, predicted.sent_inter) << what;
  EXPECT_EQ(counted.received_intra, predicted.received_intra) << what;
  EXPECT_EQ(counted.received_inter, predicted.received_inter) << what;
}

void make_call(Rank& rank, const CallShape& shape, const CallTag& tag) {
  const int n = rank.size();
  const Buffer full = rank.buffer(shape.dtype, shape.count);
  rank.fill(full.view(), [](std::int64_t i) { return static_cast<int>(i % 3); });
  switch (shape.op) {
    case CollectiveOp::kAllReduce:
      return rank.comm.all_reduce(full.view(), tag);
    case CollectiveOp::kReduceScatter: {
      const Buffer slice = rank.buffer(shape.dtype, shape.count / n);
      return rank.comm.reduce_scatter(full.view(), slice.view(), tag);
    }
    case CollectiveOp::kAllGather:
      return rank.comm.all_gather(full.slice(rank.rank() * (shape.count / n), shape.count / n),
                                  full.view(), tag);
    case CollectiveOp::kBroadcast:
      return rank.comm.broadcast(full.view(), shape.peer, tag);
    case CollectiveOp::kAllToAll: {
      const Buffer output = rank.buffer(shape.dtype, shape.count);
      return rank.comm.all_to_all(full.view(), output.view(), tag);
    }
    case CollectiveOp::kSend:
      return rank.comm.send(full.view(), shape.peer, tag);
    case CollectiveOp::kRecv:
      return rank.comm.recv(full.view(), shape.peer, tag);
    case CollectiveOp::kBarrier:
      return rank.comm.barrier(tag);
  }
}

TEST_P(VolumeContract, EveryCollectiveMovesTheBytesOfItsFormula) {
  for (const int ranks_per_node : {0, 1, 2, 3}) {
    zerolab::on_ranks(world(), settings_with(ranks_per_node), [&](Rank& rank) {
      std::vector<CallShape> calls;
      for (const DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kFloat64}) {
        for (const std::int64_t count : {0, 1, 5, 23, 6007}) {
          calls.push_back({CollectiveOp::kAllReduce, count, dtype, -1});
          calls.push_back({CollectiveOp::kBroadcast, count, dtype, rank.size() - 1});
          calls.push_back({CollectiveOp::kReduceScatter, count * rank.size(), dtype, -1});
          calls.push_back({CollectiveOp::kAllGather, count * rank.size(), dtype, -1});
          calls.push_back({CollectiveOp::kAllToAll, count * rank.size(), dtype, -1});
        }
      }
      calls.push_back({CollectiveOp::kBarrier, 0, DType::kByte, -1});
      for (const CallShape& call : calls) {
        const Counted counted = count_call(rank, call.op, [&] {
          make_call(rank, call, {"volume", Traffic::kTraining, ""});
        });
        const std::string what =
            fmt::format("{} of {} {} on rank {} of {}, {} ranks a node", name_of(call.op),
                        call.count, name_of(call.dtype), rank.rank(), rank.size(), ranks_per_node);
        expect_volume(counted.payload, predicted_volume(shape(ranks_per_node), call, rank.rank()),
                      what);
        expect_volume(counted.headers,
                      predicted_header_volume(shape(ranks_per_node), call, rank.rank()),
                      "headers of " + what);
      }
    });
  }
}

TEST_P(VolumeContract, ASendAndItsReceiveMoveTheirBytes) {
  if (size() == 1) return;  // no peer
  zerolab::on_ranks(world(), settings_with(2), [&](Rank& rank) {
    if (rank.rank() > 1) return;
    const CollectiveOp op = rank.rank() == 0 ? CollectiveOp::kSend : CollectiveOp::kRecv;
    const CallShape call{op, 2501, DType::kFloat32, 1 - rank.rank()};
    const Counted counted = count_call(rank, op, [&] {
      make_call(rank, call, {"volume", Traffic::kTraining, ""});
    });
    expect_volume(counted.payload, predicted_volume(shape(2), call, rank.rank()), "payload");
    expect_volume(counted.headers, predicted_header_volume(shape(2), call, rank.rank()), "headers");
    EXPECT_EQ(counted.payload.sent() + counted.payload.received(), 2501 * 4);
  });
}

TEST_P(VolumeContract, WhatAllRanksSendIsWhatAllRanksReceive) {
  zerolab::on_ranks(world(), settings_with(3), [&](Rank& rank) {
    rank.comm.ledger().keep_records(true);
    make_call(rank, {CollectiveOp::kAllReduce, 1237, DType::kFloat32, -1},
              {"volume", Traffic::kTraining, ""});
    rank.stream.synchronize();
    const auto records = rank.comm.ledger().take_records();
    ASSERT_EQ(records.size(), 1U);
    const auto& record = records.front();
    const auto sent =
        std::accumulate(record.sent_to.begin(), record.sent_to.end(), std::int64_t{0});
    const auto received =
        std::accumulate(record.received_from.begin(), record.received_from.end(), std::int64_t{0});
    std::int64_t balance = 0;
    for (const std::string& text : rank.context.gather_texts(std::to_string(sent - received))) {
      balance += std::stoll(text);
    }
    EXPECT_EQ(balance, 0);
    EXPECT_EQ(sent, rank.comm.ledger().total(Traffic::kTraining).sent());
    EXPECT_EQ(received, rank.comm.ledger().total(Traffic::kTraining).received());
    if (rank.size() > 1) {
      EXPECT_GT(sent, 0);
    }
  });
}

TEST_P(VolumeContract, WithoutCheckedModeThereIsNoHeaderTraffic) {
  zerolab::on_ranks(world(), settings_with(0, false), [&](Rank& rank) {
    make_call(rank, {CollectiveOp::kAllReduce, 100, DType::kFloat32, -1},
              {"volume", Traffic::kTraining, ""});
    rank.stream.synchronize();
    EXPECT_EQ(rank.comm.ledger().total(Traffic::kChecks), Volume{});
    EXPECT_EQ(rank.comm.ledger().total(Traffic::kControl), Volume{});
  });
}

TEST_P(VolumeContract, TrafficIsBookedInTheLineOfItsTag) {
  on_ranks([&](Rank& rank) {
    make_call(rank, {CollectiveOp::kAllGather, 4 * rank.size(), DType::kFloat64, -1},
              {"gather norms", Traffic::kControl, ""});
    rank.stream.synchronize();
    EXPECT_EQ(rank.comm.ledger().total(Traffic::kTraining), Volume{});
    EXPECT_EQ(rank.comm.ledger().total(Traffic::kControl).sent(), 32 * (rank.size() - 1));
  });
}

TEST_P(VolumeContract, ARecordSaysWhatHappened) {
  on_ranks([&](Rank& rank) {
    rank.comm.ledger().keep_records(true);
    rank.comm.barrier({"before", Traffic::kControl, ""});
    rank.comm.set_phase("step 3 backward");
    make_call(rank, {CollectiveOp::kReduceScatter, 8 * rank.size(), DType::kBFloat16, -1},
              {"reduce-scatter gradients", Traffic::kTraining, "bucket 2"});
    rank.comm.set_phase("step 4 forward");
    rank.stream.synchronize();
    const auto records = rank.comm.ledger().take_records();
    ASSERT_EQ(records.size(), 2U);
    const CollectiveRecord& record = records[1];
    EXPECT_EQ(record.sequence, 1);
    EXPECT_EQ(record.op, CollectiveOp::kReduceScatter);
    EXPECT_EQ(record.dtype, DType::kBFloat16);
    EXPECT_EQ(record.count, 8 * rank.size());
    EXPECT_EQ(record.group, "world");
    EXPECT_EQ(record.group_size, rank.size());
    EXPECT_EQ(record.phase, "step 3 backward");
    EXPECT_EQ(record.what, "reduce-scatter gradients");
    EXPECT_EQ(record.detail, "bucket 2");
    EXPECT_GE(record.end_ns, record.start_ns);
    EXPECT_EQ(record.nominal, GetParam().reduction == Reduction::kNative);
    EXPECT_TRUE(rank.comm.ledger().take_records().empty());
  });
}

TEST_P(VolumeContract, StagingMemoryIsAllocatedOnceAndHasTheFormulasSize) {
  on_ranks([&](Rank& rank) {
    EXPECT_EQ(rank.device.ledger().held(Category::kCommunicationStaging), staging_bytes(shape(0)));
    make_call(rank, {CollectiveOp::kAllReduce, 300'001, DType::kFloat32, -1},
              {"volume", Traffic::kTraining, ""});
    rank.stream.synchronize();
    EXPECT_EQ(
        rank.device.ledger().peak()[static_cast<std::size_t>(Category::kCommunicationStaging)],
        staging_bytes(shape(0)));
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, VolumeContract, testing::ValuesIn(contract_cases()),
                         name_of_case);

}  // namespace
}  // namespace zerolab
