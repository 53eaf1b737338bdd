#include "experiments/compare/plan.h"

#include <gmock/gmock.h>

#include "experiments/compare/clean_runs.h"
#include "experiments/compare/permuted_order.h"

namespace zerolab {
namespace {

using testing::ElementsAre;

std::vector<std::string> names(const ComparisonPlan& plan) {
  std::vector<std::string> all;
  for (const PlannedRun& run : plan.runs) all.push_back(run.name);
  return all;
}

TEST(Plan, HoldsEveryStageAgainstDdpWhereverItIsListed) {
  RunConfig config;
  config.stages = {"zero3", "ddp", "zero1"};

  const ComparisonPlan plan = plan_comparison(config, nullptr);

  EXPECT_THAT(names(plan), ElementsAre("ddp", "zero3", "zero1"));
  EXPECT_EQ(plan.runs[0].compared_with, "");
  EXPECT_EQ(plan.runs[1].compared_with, "ddp");
}

TEST(Plan, TakesTheFirstStageAsReferenceWithoutDdp) {
  RunConfig config;
  config.stages = {"zero2", "zero3"};

  EXPECT_EQ(plan_comparison(config, nullptr).reference, "zero2");
}

TEST(Plan, RunsAPairInLocalOrderWithSeveralMicroBatches) {
  RunConfig config;
  config.accumulate = 3;

  const ComparisonPlan plan = plan_comparison(config, nullptr);

  EXPECT_THAT(names(plan),
              ElementsAre("ddp", "zero1", "zero2", "zero3", "ddp.local", "zero1.local"));
  EXPECT_EQ(plan.runs[4].compared_with, "");
  EXPECT_EQ(plan.runs[5].compared_with, "ddp.local");
  EXPECT_EQ(plan.runs[5].order, AccumulationOrder::kLocal);
  EXPECT_EQ(plan.runs[1].order, AccumulationOrder::kReduced);
}

TEST(Plan, AFaultyStageIsNeverTheReference) {
  RunConfig config;
  FaultLabel fault;
  fault.stage = "ddp";

  const ComparisonPlan plan = plan_comparison(config, &fault);

  EXPECT_EQ(plan.reference, "zero1");
  EXPECT_EQ(plan.runs[1].name, "ddp");
  EXPECT_TRUE(plan.runs[1].faulty);
  EXPECT_FALSE(plan.runs[0].faulty);
}

TEST(Plan, OnlyTheFaultyStageIsToldOfTheFault) {
  RunConfig config;
  config.fault = "sum-not-mean";
  FaultLabel fault;
  fault.stage = "zero2";

  for (const PlannedRun& run : plan_comparison(config, &fault).runs) {
    EXPECT_EQ(config_of(config, run).fault, run.stage == "zero2" ? "sum-not-mean" : "");
  }
}

TEST(OpenOrder, IsNoExcuseForStagesThatCutTheModelAlike) {
  RunConfig config;
  config.ranks = 3;
  config.stages = {"ddp", "zero1", "zero3"};
  const std::vector<PlannedRun> runs = plan_comparison(config, nullptr).runs;

  EXPECT_FALSE(order_is_open(config, runs[0], runs[2])) << "ordered";
  config.reduction = Reduction::kRing;
  EXPECT_FALSE(order_is_open(config, runs[0], runs[1])) << "the same buckets, the same order";
  EXPECT_TRUE(order_is_open(config, runs[0], runs[2])) << "units are not buckets";
  config.ranks = 2;
  EXPECT_FALSE(order_is_open(config, runs[0], runs[2])) << "two terms have one order";
  config.ranks = 3;
  config.reduction = Reduction::kNative;
  EXPECT_TRUE(order_is_open(config, runs[0], runs[1])) << "nobody knows MPI's order";
}

TEST(OtherOrders, NeedThreeTerms) {
  RunConfig config;
  config.ranks = 2;
  EXPECT_FALSE(has_other_orders(config)) << "a + b = b + a";
  config.accumulate = 2;
  EXPECT_TRUE(has_other_orders(config));
  config.skip_block_every = 2;
  EXPECT_FALSE(has_other_orders(config)) << "the second micro-batch is another sum";
  config.ranks = 3;
  EXPECT_TRUE(has_other_orders(config));
}

TEST(PermutedOrders, AreOrdersAndNeverTheIdentity) {
  for (const std::int64_t size : {2, 3, 4, 12}) {
    std::vector<std::int64_t> identity(static_cast<std::size_t>(size));
    for (std::int64_t i = 0; i < size; ++i) identity[static_cast<std::size_t>(i)] = i;
    const auto orders = permuted_orders(size, 3, 7);
    EXPECT_EQ(orders.size(), 3U);
    for (const auto& order : orders) {
      EXPECT_NE(order, identity);
      EXPECT_THAT(order, testing::UnorderedElementsAreArray(identity));
    }
  }
}

}  // namespace
}  // namespace zerolab
