// The discrete-event replay against the closed form, and what stragglers do to it.
#include "experiments/plan/replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "experiments/plan/replay_trace.h"
#include "experiments/plan/step_time.h"
#include "stages/core/error.h"
#include "tests/plan/planned.h"

namespace zerolab {
namespace {

PlanRequest timed_request(int ranks, bool overlap = true) {
  PlanRequest request = test::preset_request("gpt-tiny", ranks);
  request.recipe.run.overlap = overlap;
  request.time.cluster.device = test::plain_device();
  request.time.cluster.device.intra_bandwidth = 2e9;  // communication matters
  return request;
}

ReplaySettings all_alike(int ranks) {
  ReplaySettings settings;
  settings.ranks = ranks;
  return settings;
}

TEST(Replay, OfRanksThatAreAlikeTakesAsLongAsTheClosedForm) {
  for (const std::string& stage : stage_names()) {
    for (const bool overlap : {true, false}) {
      const PlanRequest request = timed_request(5, overlap);
      const StageReplay replayed = replay_stage(stage, request, all_alike(5));
      const OperationTimes closed = operation_times(replayed.program);
      for (const RankReplay& rank : replayed.replay.ranks) {
        EXPECT_EQ(rank.waiting_seconds, 0) << stage;
        for (std::size_t i = 0; i < closed.end.size(); ++i) {
          ASSERT_DOUBLE_EQ(rank.operations[i].begin, closed.begin[i]) << stage << ", " << i;
          ASSERT_DOUBLE_EQ(rank.operations[i].end, closed.end[i]) << stage << ", " << i;
        }
      }
      EXPECT_DOUBLE_EQ(replayed.step_seconds(), plan_stage(stage, request).time->step_seconds);
    }
  }
}

TEST(Replay, OfACollectiveIsTheRingMessageByMessage) {
  // Rank r can send its k-th message when it has sent the one before and received the left
  // neighbour's: after n − 1 of them everybody ends n − 1 messages after the last rank came.
  const std::vector<double> arrivals = {0.3, 2.0, 0.0, 1.1, 0.7};
  const double message = 0.25;
  const std::size_t n = arrivals.size();
  std::vector<double> ends = arrivals;
  for (std::size_t step = 1; step < n; ++step) {
    std::vector<double> next(n);
    for (std::size_t r = 0; r < n; ++r)
      next[r] = std::max(ends[r], ends[(r + n - 1) % n]) + message;
    ends = next;
  }

  StepProgram program;
  program.operations = {{StepOperation::kCompute, "forward", "", 1, false, 1, {}},
                        {StepOperation::kCompute, "all_gather", "", 4 * message, true, 1, {}},
                        {StepOperation::kCompute, "update", "", 0, false, 1, {}}};
  program.updates = {2};
  ReplaySettings settings = all_alike(5);
  settings.slowness = arrivals;  // one second each, so many times as long
  const Replay replayed = replay(program, settings);

  for (std::size_t r = 0; r < n; ++r) {
    EXPECT_DOUBLE_EQ(replayed.ranks[r].operations[1].end, ends[r]);
    EXPECT_DOUBLE_EQ(replayed.ranks[r].waiting_seconds, 2.0 - arrivals[r]);
  }
}

TEST(Replay, WithAStragglerTakesAsLongAsTheStragglerAndMakesTheOthersWait) {
  for (const std::string& stage : stage_names()) {
    const PlanRequest request = timed_request(4);
    ReplaySettings settings = all_alike(4);
    const double alike = replay_stage(stage, request, settings).step_seconds();
    settings.slowness = {1, 1, 3, 1};
    const StageReplay slowed = replay_stage(stage, request, settings);
    PlanRequest all_slow = request;
    all_slow.time.cluster.device.product_flops /= 3;
    all_slow.time.cluster.device.memory_bandwidth /= 3;
    const double slowest = plan_stage(stage, all_slow).time->step_seconds;
    EXPECT_GT(slowed.step_seconds(), alike) << stage;
    EXPECT_NEAR(slowed.step_seconds(), slowest, 1e-9 * slowest) << stage;
    EXPECT_EQ(slowed.replay.ranks[2].waiting_seconds, 0) << stage;
    EXPECT_GT(slowed.replay.ranks[0].waiting_seconds, 0) << stage;
  }
}

TEST(Replay, WithJitterIsTheSameForTheSameSeed) {
  const PlanRequest request = timed_request(4);
  ReplaySettings settings = all_alike(4);
  settings.jitter = 0.2;
  const double first = replay_stage("zero3", request, settings).step_seconds();
  EXPECT_EQ(replay_stage("zero3", request, settings).step_seconds(), first);
  settings.seed = 2;
  EXPECT_NE(replay_stage("zero3", request, settings).step_seconds(), first);
}

TEST(Replay, WritesATraceWithEveryRank) {
  const PlanRequest request = timed_request(3);
  ReplaySettings settings = all_alike(3);
  settings.slowness = {1, 2, 1};
  const nlohmann::json trace =
      nlohmann::json::parse(replay_trace(replay_stage("zero2", request, settings)));
  std::vector<bool> seen(3, false);
  bool waits = false;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    seen.at(event["pid"].get<std::size_t>()) = true;
    waits |= event["name"] == "wait: other ranks";
  }
  EXPECT_EQ(seen, std::vector<bool>(3, true));
  EXPECT_TRUE(waits);
}

TEST(Replay, RefusesWhatCannotBeReplayed) {
  EXPECT_THROW(replay_stage("ddp", test::preset_request("gpt-tiny", 2), all_alike(2)), BadInput);
  EXPECT_THROW(replay_stage("ddp", timed_request(2048), all_alike(2048)), BadInput);
  PlanRequest many = timed_request(2);
  many.recipe.run.accumulate = 100;
  EXPECT_THROW(replay_stage("ddp", many, all_alike(2)), BadInput);
}

}  // namespace
}  // namespace zerolab
