// Nothing hangs: ranks that disagree, fail, end early or never arrive bring the world down with one
// message. On a rank that is a process of its own, the other ranks' failure arrives as Aborted.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/comm/contract/ranks.h"

namespace zerolab {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const CallTag kTag{"reduce gradients", Traffic::kTraining, "bucket 3"};

// With one rank there is nobody to disagree with.
class FailureContract : public CommunicatorContract {
 protected:
  /// The message that the world ends with.
  std::string message_of_run(const CommSettings& settings, const std::function<void(Rank&)>& test) {
    try {
      zerolab::on_ranks(*world_, settings, test);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "nothing was thrown";
  }
  std::string message_of_run(const std::function<void(Rank&)>& test) {
    return message_of_run(settings(), test);
  }
};

// Rank 1 makes another call than the others; every rank must get an error that names both.
struct Deviation {
  const char* name;
  std::function<void(Rank&, View)> usual, other;
};

std::vector<Deviation> deviations() {
  const auto all_reduce = [](Rank& rank, View array) { rank.comm.all_reduce(array, kTag); };
  return {
      {"all_reduce of 7 fp32", all_reduce,
       [](Rank& rank, View array) { rank.comm.all_reduce(array.slice(0, 7), kTag); }},
      {"all_reduce of 24 int32", all_reduce,
       [](Rank& rank, View array) {
         rank.comm.all_reduce({array.data, DType::kInt32, array.count}, kTag);
       }},
      {"bucket 4", all_reduce,
       [](Rank& rank, View array) {
         rank.comm.all_reduce(array, {"reduce gradients", Traffic::kTraining, "bucket 4"});
       }},
      {"reduce norms", all_reduce,
       [](Rank& rank, View array) {
         rank.comm.all_reduce(array, {"reduce norms", Traffic::kTraining, "bucket 3"});
       }},
      {"broadcast", all_reduce,
       [](Rank& rank, View array) { rank.comm.broadcast(array, 0, kTag); }},
      {"from rank 1", [](Rank& rank, View array) { rank.comm.broadcast(array, 0, kTag); },
       [](Rank& rank, View array) { rank.comm.broadcast(array, 1, kTag); }},
      {"barrier", all_reduce, [](Rank& rank, View) { rank.comm.barrier(kTag); }},
  };
}

TEST_P(FailureContract, RanksThatDisagreeOnACallAllGetAnErrorThatNamesRanksCallsAndTags) {
  for (const Deviation& deviation : deviations()) {
    const std::string message = message_of_run([&](Rank& rank) {
      const Buffer array = rank.buffer(DType::kFloat32, 24);
      rank.fill(array.view(), [](std::int64_t) { return 1; });
      rank.comm.barrier(kTag);  // the first call is in order
      (rank.rank() == 1 ? deviation.other : deviation.usual)(rank, array.view());
      EXPECT_THROW(rank.stream.synchronize(), Failure) << "on rank " << rank.rank();
      rank.stream.synchronize();
    });
    EXPECT_THAT(message, AllOf(HasSubstr("rank 1 made "), HasSubstr(deviation.name),
                               HasSubstr("collective 1"), HasSubstr("bucket 3")));
  }
}

TEST_P(FailureContract, AnUncheckedRunDoesNotCompareTags) {
  CommSettings unchecked = settings();
  unchecked.checked = false;
  zerolab::on_ranks(world(), unchecked, [](Rank& rank) {
    const Buffer array = rank.buffer(DType::kFloat32, 24);
    rank.fill(array.view(), [](std::int64_t) { return 1; });
    rank.comm.all_reduce(array.view(), {"mine", Traffic::kTraining, std::to_string(rank.rank())});
    EXPECT_EQ(rank.values(array.view()), std::vector<std::int64_t>(24, rank.size()));
  });
}

TEST_P(FailureContract, AReceiveThatDoesNotMatchItsSendIsAnError) {
  const std::string message = message_of_run([](Rank& rank) {
    const Buffer array = rank.buffer(DType::kFloat32, 24);
    rank.fill(array.view(), [](std::int64_t) { return 1; });
    if (rank.rank() == 0) rank.comm.send(array.view(), 1, kTag);
    if (rank.rank() == 1) rank.comm.recv(array.slice(0, 23), 0, kTag);
    rank.comm.barrier(kTag);
    rank.stream.synchronize();
  });
  EXPECT_THAT(message, AllOf(HasSubstr("rank 1 made recv of 23 fp32"),
                             HasSubstr("rank 0 made send of 24 fp32")));
}

TEST_P(FailureContract, ARankThatThrowsTakesTheOthersDownWithItsMessage) {
  const std::string message = message_of_run([](Rank& rank) {
    const Buffer array = rank.buffer(DType::kFloat32, 24);
    rank.fill(array.view(), [](std::int64_t) { return 1; });
    rank.comm.all_reduce(array.view(), kTag);
    if (rank.rank() == rank.size() - 1) throw std::runtime_error("the disk is full");
    rank.comm.all_reduce(array.view(), kTag);
    EXPECT_THROW(rank.stream.synchronize(), Aborted) << "on rank " << rank.rank();
    rank.stream.synchronize();
  });
  EXPECT_EQ(message, "the disk is full");
}

TEST_P(FailureContract, ARankThatThrowsWithACallInFlightDoesNotHang) {
  const std::string message = message_of_run([this](Rank& rank) {
    const auto other = rank.context.create_communicator(rank.device, rank.stream, settings());
    if (rank.rank() == 0) {
      rank.comm.barrier(kTag);  // waits for ranks that wait for us elsewhere
      throw std::runtime_error("the disk is full");
    }
    other->barrier(kTag);
    rank.stream.synchronize();
  });
  EXPECT_EQ(message, "the disk is full");
}

TEST_P(FailureContract, AnExceptionInStreamWorkTakesTheOthersDown) {
  const std::string message = message_of_run([](Rank& rank) {
    if (rank.rank() == 0) {
      rank.stream.launch({.name = "faulty", .detail = "", .reads = {}, .writes = {}, .work = [] {
                            throw std::runtime_error("the kernel failed");
                          }});
    }
    rank.comm.barrier(kTag);
    rank.stream.synchronize();
  });
  EXPECT_EQ(message, "the kernel failed");
}

TEST_P(FailureContract, AFailureThatNoHostLooksAtStillEndsTheRun) {
  std::string message = "nothing was thrown";
  try {
    world().run([this](RankContext& context) {
      const auto device = make_cpu_device();
      const auto stream = device->create_stream("communication");
      const auto comm = context.create_communicator(*device, *stream, settings());
      comm->barrier({context.rank() == 0 ? "this" : "that", Traffic::kTraining, ""});
    });
  } catch (const Failure& failure) {
    message = failure.what();
  }
  EXPECT_THAT(message, AllOf(HasSubstr("this"), HasSubstr("that")));
}

TEST_P(FailureContract, AWorldCanBeRunAgainAfterAFailure) {
  message_of_run([](Rank& rank) {
    if (rank.rank() == 0) throw std::runtime_error("once");
    rank.comm.barrier(kTag);
    rank.stream.synchronize();
  });
  on_ranks([](Rank& rank) {
    const Buffer array = rank.buffer(DType::kInt64, 3);
    rank.fill(array.view(), [&](std::int64_t) { return rank.rank(); });
    rank.comm.all_reduce(array.view(), kTag);
    EXPECT_EQ(rank.values(array.view()),
              std::vector<std::int64_t>(3, rank.size() * (rank.size() - 1) / 2));
  });
}

// A rank that comes too late for the others' patience.
class WatchdogContract : public FailureContract {
 protected:
  std::string message_of_late_rank_1(bool checked) {
    CommSettings impatient = settings();
    impatient.timeout_seconds = 1;
    impatient.checked = checked;
    std::atomic<int> released{0};
    return message_of_run(impatient, [&](Rank& rank) {
      rank.context.gather_texts("");  // all start together
      if (rank.rank() == 1) {
        // Threads tell when the watchdog has released them; a process just comes late.
        const bool threads = contract_wire() == WireKind::kPeerView;
        const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(threads ? 60 : 3);
        while (released < rank.size() - 1 && std::chrono::steady_clock::now() < late) {
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
      }
      const Buffer array = rank.buffer(DType::kFloat32, 24);
      rank.fill(array.view(), [](std::int64_t) { return 1; });
      rank.comm.all_reduce(array.view(), kTag);
      EXPECT_THROW(rank.stream.synchronize(), Failure) << "on rank " << rank.rank();
      released.fetch_add(1);
      rank.stream.synchronize();
    });
  }
};

TEST_P(WatchdogContract, NamesTheRankThatDoesNotArriveAndTheCall) {
  EXPECT_THAT(message_of_late_rank_1(true),
              AllOf(HasSubstr("rank 1 did not arrive within 1 s at all_reduce of 24 fp32"),
                    HasSubstr("bucket 3")));
}

TEST_P(WatchdogContract, WorksWithoutCheckedMode) {
  EXPECT_THAT(message_of_late_rank_1(false),
              AllOf(HasSubstr("rank 1 did not arrive within 1 s at all_reduce of 24 fp32"),
                    HasSubstr("bucket 3")));
}

// Under MPI mpirun sets the size; with threads one odd size will do, since each test takes a
// second.
std::vector<ContractCase> watchdog_cases() {
  auto cases = contract_cases_with_peers();
  std::erase_if(cases, [](const ContractCase& c) {
    return c.reduction != Reduction::kOrdered ||
           (contract_wire() == WireKind::kPeerView && c.world != 3);
  });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Contract, WatchdogContract, testing::ValuesIn(watchdog_cases()),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Contract, FailureContract, testing::ValuesIn(contract_cases_with_peers()),
                         name_of_case);

// With one process there are no such cases.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FailureContract);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WatchdogContract);

}  // namespace
}  // namespace zerolab
