#include "stages/comm/thread/barrier.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace zerolab {
namespace {

class Endless final : public Patience {
 public:
  bool exhausted(const Barrier&) override { return false; }
};
class Impatient final : public Patience {
 public:
  bool exhausted(const Barrier&) override { return true; }
};

TEST(Barrier, LetsNobodyPassBeforeAllHaveCome) {
  constexpr int kRanks = 5;
  constexpr int kRounds = 500;
  Barrier barrier(kRanks);
  std::atomic<int> arrived{0};
  std::atomic<bool> early{false};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] {
      Endless endless;
      for (int round = 1; round <= kRounds; ++round) {
        arrived.fetch_add(1);
        ASSERT_TRUE(barrier.arrive_and_wait(rank, endless));
        if (arrived.load() < round * kRanks) early = true;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_FALSE(early);
}

TEST(Barrier, OrdersPlainMemory) {
  // ThreadSanitizer judges this one.
  Barrier barrier(2);
  int value = 0;
  int seen = 0;
  std::thread other([&] {
    Endless endless;
    value = 42;
    barrier.arrive_and_wait(1, endless);
  });
  Endless endless;
  barrier.arrive_and_wait(0, endless);
  seen = value;
  other.join();
  EXPECT_EQ(seen, 42);
}

TEST(Barrier, OnceARankHasGivenUpNobodyPasses) {
  Barrier barrier(3);
  Impatient impatient;
  Endless endless;
  EXPECT_FALSE(barrier.arrive_and_wait(0, impatient));
  EXPECT_FALSE(barrier.arrive_and_wait(1, endless));
  EXPECT_FALSE(barrier.arrive_and_wait(2, endless));
}

TEST(Barrier, ARankThatGivesUpReleasesTheSleepers) {
  Barrier barrier(3);
  std::atomic<bool> passed{true};
  std::thread sleeper([&] {
    Endless endless;
    passed = barrier.arrive_and_wait(1, endless);
  });
  Impatient impatient;
  EXPECT_FALSE(barrier.arrive_and_wait(0, impatient));
  sleeper.join();
  EXPECT_FALSE(passed);
}

TEST(Barrier, TellsWhoIsMissing) {
  class Observer final : public Patience {
   public:
    bool exhausted(const Barrier& barrier) override {
      missing = barrier.missing();
      return true;
    }
    std::vector<int> missing;
  } observer;
  Barrier barrier(4);
  EXPECT_FALSE(barrier.arrive_and_wait(2, observer));
  EXPECT_EQ(observer.missing, (std::vector<int>{0, 1, 3}));
}

}  // namespace
}  // namespace zerolab
