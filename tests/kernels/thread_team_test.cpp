// The fork/join pool.
#include "stages/kernels/cpu/thread_team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>

namespace zerolab::cpu {
namespace {

TEST(ThreadTeam, RunsEveryTaskOnce) {
  for (const int threads : {1, 2, 3, 5}) {
    ThreadTeam team(threads);
    for (const std::int64_t count : {0, 1, 2, 3, 7, 1000}) {
      std::vector<int> runs(static_cast<std::size_t>(count), 0);
      team.for_each(count, [&](std::int64_t i) { ++runs[static_cast<std::size_t>(i)]; });
      EXPECT_EQ(runs, std::vector<int>(static_cast<std::size_t>(count), 1)) << threads;
    }
  }
}

TEST(ThreadTeam, RangesCoverEverythingOnce) {
  ThreadTeam team(3);
  std::vector<int> touched(1001, 0);
  team.for_ranges(1001, 64, [&](Range r) {
    for (std::int64_t i = r.begin; i < r.end; ++i) ++touched[static_cast<std::size_t>(i)];
  });
  EXPECT_EQ(touched, std::vector<int>(1001, 1));
}

TEST(ThreadTeam, WhatATaskWroteIsSeenAfterTheJoin) {
  ThreadTeam team(2);
  std::vector<std::int64_t> squares(64);
  for (std::int64_t round = 0; round < 2000; ++round) {
    team.for_each(64, [&](std::int64_t i) { squares[static_cast<std::size_t>(i)] = i * round; });
    const auto sum = std::accumulate(squares.begin(), squares.end(), std::int64_t{0});
    ASSERT_EQ(sum, 2016 * round);
  }
}

TEST(ThreadTeam, TheHelpersTakePart) {
  ThreadTeam team(3);
  std::atomic<int> waiting{0};
  // Each task waits for the other two, so it takes three threads to get through.
  team.for_each(3, [&](std::int64_t) {
    waiting.fetch_add(1);
    while (waiting.load() < 3) std::this_thread::yield();
  });
  EXPECT_EQ(waiting.load(), 3);
}

TEST(ThreadTeam, ATasksExceptionReachesTheCallerAndTheTeamGoesOn) {
  ThreadTeam team(3);
  for (const std::int64_t bad : {0, 1, 50, 99}) {
    const auto task = [&](std::int64_t i) {
      if (i == bad) throw std::runtime_error("tile is bad");
    };
    EXPECT_THROW(team.for_each(100, task), std::runtime_error);
  }
  std::atomic<int> runs{0};
  team.for_each(100, [&](std::int64_t) { runs.fetch_add(1); });
  EXPECT_EQ(runs.load(), 100);
}

TEST(ThreadTeam, FewerThanOneThreadIsRefused) {
  EXPECT_THROW(ThreadTeam team(0), std::logic_error);
}

}  // namespace
}  // namespace zerolab::cpu
