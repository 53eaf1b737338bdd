// The α–β model of collectives and the timeline of a step against formulas worked out by hand.
#include "experiments/plan/step_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "experiments/plan/compute_time.h"
#include "tests/plan/planned.h"

namespace zerolab {
namespace {

Cluster cluster_of(std::int64_t ranks, std::int64_t ranks_per_node) {
  return {test::plain_device(), ranks, ranks_per_node, {1e-6, 5e-6}};
}

double seconds(const Cluster& cluster, CollectiveAlgorithm algorithm, CollectiveOp op) {
  return collective_seconds(cluster, algorithm, op, 8e9);
}

TEST(CollectiveTime, OfARingInOneNodeIsStepsOfLatencyAndBytesOverBandwidth) {
  const Cluster cluster = cluster_of(8, 8);
  const double one_pass = 7 * 1e-6 + 7.0 / 8 * 8e9 / 100e9;
  const auto ring = CollectiveAlgorithm::kRing;
  EXPECT_DOUBLE_EQ(seconds(cluster, ring, CollectiveOp::kAllGather), one_pass);
  EXPECT_DOUBLE_EQ(seconds(cluster, ring, CollectiveOp::kReduceScatter), one_pass);
  EXPECT_DOUBLE_EQ(seconds(cluster, ring, CollectiveOp::kAllReduce), 2 * one_pass);
}

TEST(CollectiveTime, BetweenNodesHasEitherOneRingOrOneForEachLevel) {
  const Cluster cluster = cluster_of(32, 8);
  const double inside = 7 * 1e-6 + 7.0 / 8 * 8e9 / 100e9;
  const double across = 3.0 / 4 * 1e9 / 10e9;  // an eighth of the array on each device's card
  const auto gather = CollectiveOp::kAllGather;
  EXPECT_DOUBLE_EQ(seconds(cluster, CollectiveAlgorithm::kRing, gather),
                   31 * 5e-6 + 31.0 / 32 * 8e9 / 80e9);
  EXPECT_DOUBLE_EQ(seconds(cluster, CollectiveAlgorithm::kHierarchical, gather),
                   inside + 3 * 5e-6 + across);
  EXPECT_DOUBLE_EQ(seconds(cluster, CollectiveAlgorithm::kDoubling, gather),
                   inside + 2 * 5e-6 + across);
}

TEST(CollectiveTime, OfOneRankIsNothing) {
  EXPECT_EQ(seconds(cluster_of(1, 0), CollectiveAlgorithm::kFastest, CollectiveOp::kAllReduce), 0);
}

/// Times of a preset whose messages cost `per_byte` seconds a byte and nothing to begin.
StepTime time_of(const std::string& stage, double bandwidth, bool overlap, int accumulate = 1) {
  PlanRequest request = test::preset_request("gpt-tiny", 4);
  request.recipe.run.overlap = overlap;
  request.recipe.run.accumulate = accumulate;
  request.time.cluster = cluster_of(4, 0);
  request.time.cluster.latency = {0, 0};
  request.time.cluster.device.intra_bandwidth = bandwidth;
  return *plan_stage(stage, request).time;
}

TEST(StepTime, WithoutOverlapIsComputingPlusCommunication) {
  for (const std::string& stage : stage_names()) {
    const StepTime time = time_of(stage, 1e9, false);
    EXPECT_NEAR(time.step_seconds, time.compute_seconds + time.communication_seconds,
                1e-12 * time.step_seconds)
        << stage;
  }
}

TEST(StepTime, WithOverlapIsNeverShorterThanEitherAndNeverLongerThanBoth) {
  for (const std::string& stage : stage_names()) {
    for (const double bandwidth : {1e8, 1e9, 1e10, 1e11}) {
      const StepTime time = time_of(stage, bandwidth, true);
      const double longest = std::max(time.compute_seconds, time.communication_seconds);
      EXPECT_GE(time.step_seconds, longest * (1 - 1e-9)) << stage << " at " << bandwidth;
      EXPECT_LE(time.step_seconds, (time.compute_seconds + time.communication_seconds) * (1 + 1e-9))
          << stage << " at " << bandwidth;
    }
  }
}

TEST(StepTime, WithFreeCommunicationIsComputing) {
  for (const std::string& stage : stage_names()) {
    const StepTime time = time_of(stage, 1e18, true);
    EXPECT_NEAR(time.step_seconds, time.compute_seconds, 1e-6 * time.compute_seconds) << stage;
  }
}

TEST(StepTime, OfManyMicroBatchesGoesOnAsItBegan) {
  // Seven and eight are beyond what is laid out one by one.
  for (const std::string& stage : stage_names()) {
    const double six = time_of(stage, 1e9, true, 6).step_seconds;
    const double seven = time_of(stage, 1e9, true, 7).step_seconds;
    const double eight = time_of(stage, 1e9, true, 8).step_seconds;
    EXPECT_GT(seven, six) << stage;
    EXPECT_NEAR(eight - seven, seven - six, 1e-9 * eight) << stage;
  }
}

TEST(StepTime, OfDdpIsThatOfItsBucketsOneByOne) {
  for (const double bandwidth : {3e8, 3e9, 3e10}) {
    PlanRequest request = test::preset_request("gpt-tiny", 4);
    request.time.cluster = cluster_of(4, 0);
    request.time.cluster.device.intra_bandwidth = bandwidth;
    const Setting setting = plan_setting(request.recipe, request.model, 0);
    const DeviceSpec& device = request.time.cluster.device;
    const ComputeTimes own = compute_times(request.recipe, request.model, device);

    // Buckets are reduced in turn, each when the unit that holds its end is complete.
    double now = std::accumulate(own.forward.begin(), own.forward.end(), own.head_forward) +
                 own.head_backward;
    double reduced = 0;
    std::int64_t flat = 0, end = 0;
    std::size_t bucket = 0;
    const std::vector<std::int64_t> buckets = bucket_lengths(setting);
    for (std::size_t unit = 0; unit < own.backward.size(); ++unit) {
      now += own.backward[unit];
      flat += setting.layout.units()[unit].size;
      const bool last = unit + 1 == own.backward.size();
      while (bucket < buckets.size() && (last || end + buckets[bucket] <= flat)) {
        end += buckets[bucket];
        reduced = std::max(reduced, now) +
                  collective_seconds(request.time.cluster, request.time.algorithm,
                                     CollectiveOp::kAllReduce,
                                     4 * static_cast<double>(buckets[bucket++]));
      }
    }
    const double expected =
        std::max(reduced, now) +
        update_seconds("ddp", request.recipe, setting, device, static_cast<double>(flat));
    EXPECT_NEAR(plan_stage("ddp", request).time->step_seconds, expected, 1e-9 * expected);
  }
}

TEST(StepTime, WithCheckpointsComputesTheBlocksOnceMore) {
  PlanRequest request = test::preset_request("gpt-micro", 1);
  request.time.cluster.device = test::plain_device();
  const double without = plan_stage("ddp", request).time->compute_seconds;
  request.recipe.run.checkpoint_every = 2;
  const double with = plan_stage("ddp", request).time->compute_seconds;
  const ComputeTimes own =
      compute_times(request.recipe, request.model, request.time.cluster.device);
  const double again = std::accumulate(own.forward.begin() + 1, own.forward.end() - 1, 0.0);
  EXPECT_NEAR(with - without, again, 1e-9 * with);
}

TEST(StepTime, OfOptimizersCountsWhatTheyMoveAndMultiply) {
  PlanRequest request = test::preset_request("gpt-micro", 1);
  DeviceSpec device = test::plain_device();
  const auto seconds = [&](const char* optimizer) {
    request.recipe.run.optimizer.name = optimizer;
    const Setting setting = plan_setting(request.recipe, request.model, 0);
    return update_seconds("ddp", request.recipe, setting, device, 1e6);
  };
  const double adamw = seconds("adamw");
  EXPECT_NEAR(seconds("lamb"), adamw + 1e6 * 12 / device.memory_bandwidth, 1e-9 * adamw);
  // Two blocks of C x 3C, C x C, C x 4C and 4C x C, C = 32: five iterations of 2s(2mn + s²).
  const double operations = 2 * 5 * 2 * 32.0 * (2 * 12 * 32 * 32 + 4 * 32 * 32);
  EXPECT_NEAR(seconds("muon"), adamw + operations / device.product_flops, 1e-9 * adamw);
}

TEST(OperationTimes, WaitForTheStreamAndForOtherOperations) {
  StepProgram program;
  const auto compute = StepOperation::kCompute, communicate = StepOperation::kCommunication;
  program.operations = {{compute, "a", "", 2, false, 1, {}},
                        {communicate, "x", "", 3, true, 1, {0}},
                        {compute, "b", "", 1, false, 1, {}},
                        {communicate, "y", "", 1, true, 1, {2}},
                        {compute, "c", "", 1, false, 1, {3}}};
  const OperationTimes times = operation_times(program);
  EXPECT_EQ(times.begin, (std::vector<double>{0, 2, 2, 5, 6}));
  EXPECT_EQ(times.end, (std::vector<double>{2, 5, 3, 6, 7}));
}

}  // namespace
}  // namespace zerolab
