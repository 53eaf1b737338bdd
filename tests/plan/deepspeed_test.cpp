// DeepSpeed's JSON and its estimate beside the exact figure.
#include "experiments/plan/deepspeed_estimate.h"

#include <gtest/gtest.h>

#include <fstream>

#include "experiments/plan/deepspeed_input.h"
#include "stages/core/error.h"
#include "tests/experiments/run_command.h"
#include "tests/plan/planned.h"

namespace zerolab {
namespace {

class DeepSpeedJson : public testing::Test {
 protected:
  DeepSpeedPlanInput read(const std::string& text) {
    std::ofstream(path()) << text;
    return read_deepspeed_plan(path());
  }
  std::string path() { return directory_ / "ds.json"; }

 private:
  test::ScratchDirectory directory_{"plan-deepspeed"};
};

TEST_F(DeepSpeedJson, GivesStagePrecisionBatchAndBuckets) {
  const DeepSpeedPlanInput input = read(
      R"({"train_micro_batch_size_per_gpu": 3, "gradient_accumulation_steps": "auto",
          "bf16": {"enabled": true}, "optimizer": {"type": "Adam"},
          "zero_optimization": {"stage": 2, "reduce_bucket_size": 5e7}})");
  EXPECT_EQ(input.stage, 2);
  EXPECT_EQ(input.precision, "bf16");
  EXPECT_EQ(input.micro_batch, 3);
  EXPECT_FALSE(input.accumulate);
  EXPECT_EQ(input.optimizer, "adamw");
  EXPECT_EQ(input.bucket_elements, 50'000'000);
  EXPECT_EQ(input.overlap, false);  // the default of stages below 3
}

TEST_F(DeepSpeedJson, DerivesTheThirdOfTheBatchSizes) {
  Recipe recipe;
  recipe.run.ranks = 4;
  apply(read(R"({"train_batch_size": 32, "gradient_accumulation_steps": 2})"), {}, recipe);
  EXPECT_EQ(recipe.run.micro_batch, 4);
  apply(read(R"({"train_batch_size": 32, "train_micro_batch_size_per_gpu": 1})"), {}, recipe);
  EXPECT_EQ(recipe.run.accumulate, 8);
  EXPECT_THROW(apply(read(R"({"train_batch_size": 30})"), {}, recipe), BadInput);
}

TEST_F(DeepSpeedJson, YieldsToTheCommandLine) {
  Recipe recipe;
  recipe.run.precision = "fp16";
  apply(read(R"({"bf16": {"enabled": true}})"), {"--precision"}, recipe);
  EXPECT_EQ(recipe.run.precision, "fp16");
}

TEST_F(DeepSpeedJson, ThatMakesNoSenseIsRefused) {
  EXPECT_THROW(read("{"), BadInput);
  EXPECT_THROW(read(R"({"zero_optimization": {"stage": 4}})"), BadInput);
  EXPECT_THROW(read(R"({"zero_optimization": {"reduce_bucket_size": -1}})"), BadInput);
  EXPECT_THROW(read(R"({"optimizer": {"type": "Lion"}})"), BadInput);
  EXPECT_THROW(read(R"({"fp16": {"enabled": true}, "bf16": {"enabled": true}})"), BadInput);
}

TEST(DeepSpeedEstimate, DiffersFromTheExactFigureByItsItems) {
  for (const int stage : {2, 3}) {
    for (const int accumulate : {1, 2}) {
      PlanRequest request = test::mixed_request(1.3e9, 16);
      request.recipe.run.accumulate = accumulate;
      const StagePlan plan = plan_stage(fmt::format("zero{}", stage), request);
      EstimatorInput input;
      input.stage = stage;
      input.gpus_per_node = 8;
      input.nodes = 2;
      const EstimateComparison comparison = compare_with_estimator(request, plan, input);
      double estimated = 0, exact = 0;
      for (const EstimateLine& line : comparison.lines) {
        estimated += line.estimated;
        exact += line.exact;
        EXPECT_TRUE(line.estimated == line.exact || !line.why.empty()) << line.item;
      }
      EXPECT_NEAR(estimated, comparison.estimate.gpu_bytes, 1) << "stage " << stage;
      EXPECT_EQ(exact, static_cast<double>(plan.memory.peak_bytes)) << "stage " << stage;
    }
  }
}

TEST(DeepSpeedEstimate, IsOfStagesTwoAndThreeInSixteenBit) {
  PlanRequest request = test::mixed_request(1.3e9, 16);
  EstimatorInput input;
  input.stage = 1;
  EXPECT_THROW(deepspeed_estimate(input), BadInput);
  request.recipe.run.precision = "fp32";
  input.stage = 2;
  const StagePlan plan = plan_stage("zero2", request);
  EXPECT_THROW(compare_with_estimator(request, plan, input), BadInput);
}

}  // namespace
}  // namespace zerolab
