// What fits into a device: the largest model and batch, and which stage is worth taking.
#include "experiments/plan/fitting.h"

#include <gtest/gtest.h>

#include "experiments/plan/sweep.h"
#include "tests/plan/planned.h"

namespace zerolab {
namespace {

PlanRequest request_on(double parameters, int ranks) {
  PlanRequest request = test::mixed_request(parameters, ranks);
  request.time.cluster.device = test::plain_device();
  request.time.cluster.ranks_per_node = request.recipe.run.ranks_per_node = 8;
  request.recipe.recompute = Recompute::kFull;
  return request;
}

std::int64_t peak_of(const std::string& stage, const PlanRequest& request) {
  return plan_stage(stage, request).memory.peak_bytes;
}

TEST(LargestModel, FitsAndOneOfAPercentMoreDoesNot) {
  const PlanRequest request = request_on(1e9, 64);
  for (const std::string& stage : stage_names()) {
    const std::int64_t largest = largest_model(stage, request);
    PlanRequest at_most = request, beyond = request;
    at_most.model = model_of_parameters(largest);
    beyond.model = model_of_parameters(largest + largest / 100);
    EXPECT_LE(peak_of(stage, at_most), 80'000'000'000) << stage;
    EXPECT_GT(peak_of(stage, beyond), 80'000'000'000) << stage;
    EXPECT_LT(static_cast<double>(largest), largest_by_states(stage, request)) << stage;
  }
}

TEST(LargestModel, ByStatesIsMemoryOverBytesAParameter) {
  const PlanRequest request = request_on(1e9, 64);
  EXPECT_DOUBLE_EQ(largest_by_states("ddp", request), 5e9);
  EXPECT_DOUBLE_EQ(largest_by_states("zero3", request), 320e9);
}

TEST(LargestMicroBatch, FitsAndOneSequenceMoreDoesNot) {
  PlanRequest request = request_on(1e9, 64);
  request.recipe.recompute = Recompute::kNone;
  const std::int64_t largest = largest_micro_batch("zero2", request);
  ASSERT_GT(largest, 0);
  request.recipe.run.micro_batch = largest;
  EXPECT_LE(peak_of("zero2", request), 80'000'000'000);
  request.recipe.run.micro_batch = largest + 1;
  EXPECT_GT(peak_of("zero2", request), 80'000'000'000);
}

TEST(CheapestStage, IsTheSimplestOfThoseThatFitAndTakeNoLonger) {
  // Ten times the bandwidth hides everything: 1B fits in each stage, 20B only where it is sharded.
  const auto advice = [](double parameters) {
    const PlanRequest request = request_on(parameters, 64);
    return cheapest_stage(plan_stages(request), request);
  };
  EXPECT_NE(advice(1e9).stage, "");
  EXPECT_EQ(advice(100e9).stage, "zero3");
  EXPECT_NE(advice(100e9).reason.find("zero2 does not fit"), std::string::npos);
  EXPECT_EQ(advice(1e13).stage, "");
}

TEST(CheapestStage, WithoutTimesIsTheOneThatSendsLeast) {
  PlanRequest request = request_on(1e9, 64);
  request.time.cluster.device.product_flops = 0;
  EXPECT_EQ(cheapest_stage(plan_stages(request), request).stage, "ddp");
}

TEST(Sweep, ReachesSixteenThousandRanks) {
  PlanRequest request = request_on(1e13, 64);
  request.time.cluster.device.memory_bytes = 0;
  const std::vector<SweepPoint> points = sweep_ranks(request);
  ASSERT_EQ(points.size(), 15U * 4U);
  EXPECT_EQ(points.back().ranks, 16384);
  EXPECT_LT(points.back().states_bytes, points[3].states_bytes / 16'000);
}

}  // namespace
}  // namespace zerolab
