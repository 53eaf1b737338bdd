// What only ranks that are threads promise.
#include <gmock/gmock.h>

#include <atomic>

#include "tests/comm/contract/ranks.h"

namespace zerolab {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const CallTag kTag{"test", Traffic::kTraining, ""};

template <class E>
std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(ThreadWorld, RefusesZeroAndTooManyRanks) {
  EXPECT_THROW(make_thread_world(0), BadInput);
  EXPECT_THROW(make_thread_world(-1), BadInput);
  EXPECT_THROW(make_thread_world(1025), BadInput);
}

TEST(ThreadWorld, NativeReductionIsRefusedWithARemedy) {
  const auto world = make_thread_world(2);
  const std::string message = message_of<BadInput>(
      [&] { on_ranks(*world, {.reduction = Reduction::kNative}, [](Rank&) {}); });
  EXPECT_THAT(message, HasSubstr("--comm mpi"));
}

TEST(ThreadWorld, TreeReductionNeedsAPowerOfTwo) {
  const auto world = make_thread_world(3);
  const std::string message = message_of<BadInput>(
      [&] { on_ranks(*world, {.reduction = Reduction::kTree}, [](Rank&) {}); });
  EXPECT_THAT(message, AllOf(HasSubstr("power of two"), HasSubstr("not 3")));
}

TEST(ThreadWorld, ARankThatEndsItsPartEarlyIsNamedWithoutWaitingForTheWatchdog) {
  const auto world = make_thread_world(3);
  const std::string message = message_of<Failure>([&] {
    on_ranks(*world, {.timeout_seconds = 1e6}, [](Rank& rank) {
      rank.comm.barrier(kTag);
      if (rank.rank() == 1) return;
      rank.comm.barrier({"gather losses", Traffic::kControl, "step 7"});
      rank.stream.synchronize();
    });
  });
  EXPECT_THAT(message, AllOf(HasSubstr("rank 1 did not arrive at barrier"),
                             HasSubstr("gather losses"), HasSubstr("step 7"),
                             HasSubstr("ranks 0 and 2 wait"), HasSubstr("ended its part")));
}

TEST(ThreadWorld, AReceiverThatEndsItsPartIsNamedToTheSender) {
  const auto world = make_thread_world(2);
  const std::string message = message_of<Failure>([&] {
    on_ranks(*world, {.checked = false, .timeout_seconds = 1e6}, [](Rank& rank) {
      if (rank.rank() == 1) return;
      const Buffer array = rank.buffer(DType::kFloat32, 10);
      rank.fill(array.view(), [](std::int64_t) { return 1; });
      rank.comm.send(array.view(), 1, kTag);
      rank.stream.synchronize();
    });
  });
  EXPECT_THAT(message, HasSubstr("rank 1 did not arrive at send of 10 fp32"));
}

TEST(ThreadWorld, TheFirstExceptionKeepsItsType) {
  struct OutOfData final : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  const auto world = make_thread_world(4);
  EXPECT_THROW(on_ranks(*world, {},
                        [](Rank& rank) {
                          if (rank.rank() == 2) throw OutOfData("no more samples");
                          rank.comm.barrier(kTag);
                          rank.stream.synchronize();
                        }),
               OutOfData);
}

TEST(ThreadWorld, TwoWorldsLiveInOneProcess) {
  const auto outer = make_thread_world(2);
  on_ranks(*outer, {}, [](Rank& rank) {
    const auto inner = make_thread_world(3);
    on_ranks(*inner, {}, [&](Rank& guest) {
      const Buffer array = guest.buffer(DType::kInt32, 4);
      guest.fill(array.view(), [&](std::int64_t) { return rank.rank() + 1; });
      guest.comm.all_reduce(array.view(), kTag);
      EXPECT_EQ(guest.values(array.view()), std::vector<std::int64_t>(4, 3 * (rank.rank() + 1)));
    });
    rank.comm.barrier(kTag);
  });
}

TEST(ThreadWorld, SeveralCommunicatorsOfARankWorkAtTheSameTime) {
  const auto world = make_thread_world(3);
  world->run([](RankContext& context) {
    const auto device = make_cpu_device();
    const auto first = device->create_stream("first");
    const auto second = device->create_stream("second");
    const auto a = context.create_communicator(*device, *first, {});
    const auto b = context.create_communicator(*device, *second, {});
    Buffer x = device->allocate(DType::kInt64, 1000, Category::kWorkspace, "x", *first);
    Buffer y = device->allocate(DType::kInt64, 1000, Category::kWorkspace, "y", *second);
    std::fill_n(x.view().as<std::int64_t>(), 1000, context.rank());
    std::fill_n(y.view().as<std::int64_t>(), 1000, 10 * context.rank());
    // Ranks queue the calls of the two groups in different orders.
    if (context.rank() == 1) b->all_reduce(y.view(), kTag);
    a->all_reduce(x.view(), kTag);
    if (context.rank() != 1) b->all_reduce(y.view(), kTag);
    first->synchronize();
    second->synchronize();
    EXPECT_EQ(x.view().as<std::int64_t>()[999], 3);
    EXPECT_EQ(y.view().as<std::int64_t>()[999], 30);
  });
}

// Routine sizes and the largest; plain devices, for a guarded page costs a system call.
TEST(ThreadWorld, ManyRanksReduceAndGather) {
  for (const int ranks : {64, 300}) {
    std::atomic<int> right{0};
    make_thread_world(ranks)->run([&](RankContext& context) {
      const auto device = make_cpu_device();
      const auto stream = device->create_stream("communication");
      const auto comm = context.create_communicator(*device, *stream, {});
      Buffer x = device->allocate(DType::kInt32, 2 * ranks + 1, Category::kWorkspace, "x", *stream);
      for (std::int64_t i = 0; i < x.count(); ++i) {
        x.view().as<std::int32_t>()[i] = static_cast<std::int32_t>(i) + context.rank();
      }
      comm->all_reduce(x.view(), kTag);
      stream->synchronize();
      const int expected = 2 * ranks * ranks + ranks * (ranks - 1) / 2;
      if (x.view().as<std::int32_t>()[2 * ranks] == expected) ++right;
    });
    EXPECT_EQ(right, ranks);
  }
}

TEST(MpiWorld, IsRefusedWithARemedyWhereThereIsNoMpi) {
  if (built_with_mpi()) GTEST_SKIP() << "this build has MPI";
  EXPECT_THAT(message_of<BadInput>([] { make_mpi_world(); }), HasSubstr("--comm thread"));
}

}  // namespace
}  // namespace zerolab
