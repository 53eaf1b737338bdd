// Results of every collective, bit for bit: all sums are exactly representable.
#include "tests/comm/contract/ranks.h"

namespace zerolab {
namespace {

const CallTag kTag{"contract", Traffic::kTraining, ""};

// Per slice: nothing, one element, odd counts, more than the message limit of 1000.
constexpr std::int64_t kCounts[] = {0, 1, 3, 37, 1025, 4099};

/// All of them for one type of two bytes and one of four; where to cut does not follow the type, so
/// the others have a short and a long message. On 8 processes every call is a dozen task switches.
std::vector<std::int64_t> counts_of(DType dtype) {
  if (dtype == DType::kFloat32 || dtype == DType::kBFloat16) {
    return {std::begin(kCounts), std::end(kCounts)};
  }
  return {3, 4099};
}

std::vector<std::int64_t> sums(int size, std::int64_t begin, std::int64_t count) {
  std::vector<std::int64_t> expected;
  for (std::int64_t i = begin; i < begin + count; ++i) {
    std::int64_t sum = 0;
    for (int rank = 0; rank < size; ++rank) sum += contribution(rank, i);
    expected.push_back(sum);
  }
  return expected;
}

void fill_with_contribution(Rank& rank, View view) {
  rank.fill(view, [r = rank.rank()](std::int64_t i) { return contribution(r, i); });
}

TEST_P(CommunicatorContract, AllReduceAddsTheContributionsOfAllRanks) {
  on_ranks([](Rank& rank) {
    for (const DType dtype : kSummedDTypes) {
      for (const std::int64_t count : counts_of(dtype)) {
        const Buffer array = rank.buffer(dtype, count);
        fill_with_contribution(rank, array.view());
        rank.comm.all_reduce(array.view(), kTag);
        EXPECT_EQ(rank.values(array.view()), sums(rank.size(), 0, count))
            << name_of(dtype) << " x " << count << " on rank " << rank.rank();
      }
    }
  });
}

TEST_P(CommunicatorContract, ReduceScatterGivesEachRankTheSumOfItsSlice) {
  on_ranks([](Rank& rank) {
    for (const DType dtype : kSummedDTypes) {
      for (const std::int64_t slice : counts_of(dtype)) {
        const Buffer input = rank.buffer(dtype, slice * rank.size());
        const Buffer output = rank.buffer(dtype, slice);
        fill_with_contribution(rank, input.view());
        rank.comm.reduce_scatter(input.view(), output.view(), kTag);
        EXPECT_EQ(rank.values(output.view()), sums(rank.size(), rank.rank() * slice, slice))
            << name_of(dtype) << " x " << slice << " on rank " << rank.rank();
      }
    }
  });
}

TEST_P(CommunicatorContract, ReduceScatterMayWriteIntoItsOwnSliceOfTheInput) {
  on_ranks([](Rank& rank) {
    for (const std::int64_t slice : kCounts) {
      const Buffer input = rank.buffer(DType::kFloat32, slice * rank.size());
      const View own = input.slice(rank.rank() * slice, slice);
      fill_with_contribution(rank, input.view());
      rank.comm.reduce_scatter(input.view(), own, kTag);
      EXPECT_EQ(rank.values(own), sums(rank.size(), rank.rank() * slice, slice))
          << slice << " on rank " << rank.rank();
    }
  });
}

TEST_P(CommunicatorContract, AllGatherPutsTheSlicesInRankOrder) {
  on_ranks([](Rank& rank) {
    for (const DType dtype : kAllDTypes) {
      for (const std::int64_t slice : counts_of(dtype)) {
        for (const bool in_place : {false, true}) {
          const Buffer output = rank.buffer(dtype, slice * rank.size());
          const Buffer apart = rank.buffer(dtype, in_place ? 0 : slice);
          const View input = in_place ? output.slice(rank.rank() * slice, slice) : apart.view();
          fill_with_contribution(rank, input);
          rank.comm.all_gather(input, output.view(), kTag);
          std::vector<std::int64_t> expected;
          for (int peer = 0; peer < rank.size(); ++peer) {
            for (std::int64_t i = 0; i < slice; ++i) expected.push_back(contribution(peer, i));
          }
          EXPECT_EQ(rank.values(output.view()), expected)
              << name_of(dtype) << " x " << slice << " on rank " << rank.rank();
        }
      }
    }
  });
}

TEST_P(CommunicatorContract, BroadcastGivesEveryRankTheRootsValues) {
  on_ranks([](Rank& rank) {
    for (int root = 0; root < rank.size(); ++root) {
      for (const std::int64_t count : kCounts) {
        const Buffer array = rank.buffer(DType::kBFloat16, count);
        fill_with_contribution(rank, array.view());
        rank.comm.broadcast(array.view(), root, kTag);
        std::vector<std::int64_t> expected;
        for (std::int64_t i = 0; i < count; ++i) expected.push_back(contribution(root, i));
        EXPECT_EQ(rank.values(array.view()), expected)
            << count << " from " << root << " on rank " << rank.rank();
      }
    }
  });
}

TEST_P(CommunicatorContract, AllToAllTransposesTheSlices) {
  on_ranks([](Rank& rank) {
    for (const DType dtype : kAllDTypes) {
      for (const std::int64_t slice : counts_of(dtype)) {
        const Buffer input = rank.buffer(dtype, slice * rank.size());
        const Buffer output = rank.buffer(dtype, slice * rank.size());
        fill_with_contribution(rank, input.view());
        rank.comm.all_to_all(input.view(), output.view(), kTag);
        std::vector<std::int64_t> expected;
        for (int peer = 0; peer < rank.size(); ++peer) {
          for (std::int64_t i = 0; i < slice; ++i) {
            expected.push_back(contribution(peer, rank.rank() * slice + i));
          }
        }
        EXPECT_EQ(rank.values(output.view()), expected)
            << name_of(dtype) << " x " << slice << " on rank " << rank.rank();
      }
    }
  });
}

TEST_P(CommunicatorContract, AMessageGoesFromRankToRank) {
  on_ranks([](Rank& rank) {
    for (const std::int64_t count : kCounts) {
      const Buffer array = rank.buffer(DType::kFloat64, count);
      fill_with_contribution(rank, array.view());
      // Along the chain 0 → 1 → … so that the last rank ends with what rank 0 had.
      if (rank.rank() > 0) rank.comm.recv(array.view(), rank.rank() - 1, kTag);
      if (rank.rank() + 1 < rank.size()) rank.comm.send(array.view(), rank.rank() + 1, kTag);
      std::vector<std::int64_t> expected;
      for (std::int64_t i = 0; i < count; ++i) expected.push_back(contribution(0, i));
      EXPECT_EQ(rank.values(array.view()), expected) << count << " on rank " << rank.rank();
    }
  });
}

TEST_P(CommunicatorContract, NobodyPassesABarrierBeforeAllHaveCome) {
  // Only threads share the counter; under MPI the barrier is just passed.
  std::atomic<int> arrived{0};
  on_ranks([&](Rank& rank) {
    for (int round = 1; round <= 20; ++round) {
      rank.stream.launch(
          {.name = "arrive", .detail = "", .reads = {}, .writes = {}, .work = [&arrived] {
             arrived.fetch_add(1);
           }});
      rank.comm.barrier(kTag);
      rank.stream.synchronize();
      if (contract_wire() == WireKind::kPeerView) {
        EXPECT_GE(arrived.load(), round * rank.size()) << "on rank " << rank.rank();
      }
    }
  });
}

TEST_P(CommunicatorContract, BytesAreMovedButNotAdded) {
  on_ranks([](Rank& rank) {
    for (const DType dtype : {DType::kInt8, DType::kByte}) {
      const Buffer array = rank.buffer(dtype, 8 * rank.size());
      EXPECT_THROW(rank.comm.all_reduce(array.view(), kTag), std::logic_error);
      EXPECT_THROW(rank.comm.reduce_scatter(array.view(), array.slice(0, 8), kTag),
                   std::logic_error);
    }
  });
}

TEST_P(CommunicatorContract, ASplitGroupWorksLikeAWorldOfItsOwn) {
  on_ranks([](Rank& rank) {
    // Evens and odds, in descending order of rank.
    const int color = rank.rank() % 2;
    const auto part = rank.comm.split(color, -rank.rank());
    std::vector<int> members;
    for (int peer = rank.size() - 1; peer >= 0; --peer) {
      if (peer % 2 == color) members.push_back(peer);
    }
    ASSERT_EQ(part->world_size(), static_cast<int>(members.size()));
    EXPECT_EQ(members[static_cast<std::size_t>(part->rank())], rank.rank());

    const Buffer array = rank.buffer(DType::kFloat32, 5);
    fill_with_contribution(rank, array.view());
    part->all_reduce(array.view(), kTag);
    std::vector<std::int64_t> expected(5, 0);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      for (const int peer : members) {
        expected[i] += contribution(peer, static_cast<std::int64_t>(i));
      }
    }
    EXPECT_EQ(rank.values(array.view()), expected) << "on rank " << rank.rank();
  });
}

TEST_P(CommunicatorContract, TextsAreGatheredInRankOrder) {
  on_ranks([](Rank& rank) {
    for (int round = 0; round < 3; ++round) {
      const auto texts = rank.context.gather_texts(std::string(
          static_cast<std::size_t>(rank.rank() + round), static_cast<char>('a' + rank.rank())));
      ASSERT_EQ(texts.size(), static_cast<std::size_t>(rank.size()));
      for (int peer = 0; peer < rank.size(); ++peer) {
        EXPECT_EQ(
            texts[static_cast<std::size_t>(peer)],
            std::string(static_cast<std::size_t>(peer + round), static_cast<char>('a' + peer)));
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, CommunicatorContract, testing::ValuesIn(contract_cases()),
                         name_of_case);

}  // namespace
}  // namespace zerolab
