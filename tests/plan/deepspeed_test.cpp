// DeepSpeed's JSON and its estimate beside the exact figure.
#include "experiments/plan/estimate_comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <tuple>

#include "experiments/plan/deepspeed_input.h"
#include "stages/core/error.h"
#include "tests/experiments/run_command.h"
#include "tests/plan/planned.h"

namespace zerolab {
namespace {

class DeepSpeedJson : public testing::Test {
 protected:
  /// What the plan of four ranks of gpt-tiny becomes, where the command line gave some options.
  DeepSpeedPlanInput read(const std::string& text, const std::vector<std::string>& given = {}) {
    std::ofstream(path()) << text;
    run_.ranks = 4;
    ModelRequest model;
    model.model = "gpt-tiny";
    return apply_deepspeed_plan(
        path(),
        [&](const std::string& option) { return std::ranges::find(given, option) != given.end(); },
        planned_model(model).spec, run_);
  }
  std::string error_of(const std::string& text) {
    try {
      read(text);
    } catch (const BadInput& error) {
      return error.what();
    }
    return "no error";
  }
  std::string path() { return directory_ / "ds.json"; }

  RunConfig run_;

 private:
  test::ScratchDirectory directory_{"plan-deepspeed"};
};

TEST_F(DeepSpeedJson, GivesStagePrecisionBatchAndBuckets) {
  const DeepSpeedPlanInput input = read(
      R"({"train_micro_batch_size_per_gpu": 3, "gradient_accumulation_steps": "auto",
          "bf16": {"enabled": true}, "optimizer": {"type": "Adam"},
          "activation_checkpointing": {"number_checkpoints": 2},
          "communication_data_type": "fp32", "data_types": {"grad_accum_dtype": "bf16"},
          "zero_optimization": {"stage": 2, "reduce_bucket_size": 5e7}})");
  EXPECT_EQ(input.stage, 2);
  EXPECT_EQ(run_.stages, std::vector<std::string>{"zero2"});
  EXPECT_EQ(run_.precision, "bf16");
  EXPECT_EQ(run_.micro_batch, 3);
  EXPECT_EQ(run_.accumulate, 1);
  EXPECT_EQ(run_.optimizer.name, "adamw");
  EXPECT_EQ(run_.bucket_elements(), 50'000'000);
  EXPECT_EQ(run_.overlap, false);       // the default of stages below 3
  EXPECT_EQ(run_.checkpoint_every, 2);  // four blocks in two parts
  EXPECT_EQ(run_.reduce_dtype, "fp32");
  EXPECT_EQ(run_.accumulate_dtype, "bf16");
}

TEST_F(DeepSpeedJson, DerivesTheThirdOfTheBatchSizes) {
  read(R"({"train_batch_size": 32, "gradient_accumulation_steps": 2})");
  EXPECT_EQ(run_.micro_batch, 4);
  read(R"({"train_batch_size": 32, "train_micro_batch_size_per_gpu": 1})");
  EXPECT_EQ(run_.accumulate, 8);
  EXPECT_NE(error_of(R"({"train_batch_size": 30})").find("times 4 ranks"), std::string::npos);
}

TEST_F(DeepSpeedJson, WithoutABatchLeavesThatOfTheOptions) {
  run_.micro_batch = 7;
  const DeepSpeedPlanInput input = read(R"({"train_batch_size": "auto"})");
  EXPECT_EQ(run_.micro_batch, 7);
  ASSERT_EQ(input.notices.size(), 1U);
  EXPECT_NE(input.notices[0].find("no size of a batch"), std::string::npos);
}

TEST_F(DeepSpeedJson, YieldsToTheCommandLine) {
  run_.precision = "fp16";
  read(R"({"bf16": {"enabled": true}})", {"--precision"});
  EXPECT_EQ(run_.precision, "fp16");
  run_.bucket_mb = 1;
  read(R"({"zero_optimization": {"reduce_bucket_size": 5e7}})", {"--bucket-elements"});
  EXPECT_EQ(run_.bucket_mb, 1);
}

TEST_F(DeepSpeedJson, UnderstandsOffloadingWhichRunsRefuse) {
  const DeepSpeedPlanInput input = read(
      R"({"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": 3,
          "offload_optimizer": {"device": "cpu"}, "offload_param": {"device": "none"}}})");
  EXPECT_TRUE(input.offload_optimizer);
  EXPECT_FALSE(input.offload_parameters);
  EXPECT_TRUE(
      read(R"({"zero_optimization": {"stage": 2, "cpu_offload": true}})").offload_optimizer);
}

TEST_F(DeepSpeedJson, NamesOnceWhatWasNotUsed) {
  const DeepSpeedPlanInput input = read(
      R"({"train_micro_batch_size_per_gpu": 1, "zero_optimization":
          {"stage": 3, "stage3_prefetch_bucket_size": 5e7}})");
  ASSERT_EQ(input.notices.size(), 1U);
  EXPECT_NE(input.notices[0].find("stage3_prefetch_bucket_size"), std::string::npos);
  EXPECT_NE(input.notices[0].find("the next unit is gathered ahead"), std::string::npos);
}

TEST_F(DeepSpeedJson, ThatMakesNoSenseIsRefusedWithTheNearestKey) {
  EXPECT_NE(error_of("{").find("ds.json"), std::string::npos);
  for (const auto& [text, says] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"({"zero_optimizaton": {}})", "did you mean 'zero_optimization'"},
           {R"({"zero_optimization": {"stages": 2}})", "did you mean 'stage'"},
           {R"({"zero_optimization": {"stage": 4}})", "give 0 (ddp), 1, 2 or 3"},
           {R"({"zero_optimization": {"stage": "2"}})", "zero_optimization.stage"},
           {R"({"zero_optimization": {"reduce_bucket_size": -1}})", "reduce_bucket_size"},
           {R"({"zero_optimization": {"zero_quantized_weights": true}})", "ZeRO++"},
           {R"({"optimizer": {"type": "Lion"}})", "optimizer.type"},
           {R"({"train_batch_size": 3.5})", "train_batch_size"},
           {R"({"fp16": {"enabled": true}, "bf16": {"enabled": true}})", "enable one of them"}}) {
    EXPECT_NE(error_of(text).find(says), std::string::npos) << text << ": " << error_of(text);
  }
}

/// All shapes of an estimate: stage, what is offloaded, whether the model is built sharded.
std::vector<EstimatorInput> estimator_inputs() {
  std::vector<EstimatorInput> inputs;
  for (const int stage : {2, 3}) {
    for (int switches = 0; switches < 8; ++switches) {
      EstimatorInput input;
      input.stage = stage;
      input.gpus_per_node = 8;
      input.nodes = 2;
      input.offload_optimizer = (switches & 1) != 0;
      input.offload_parameters = (switches & 2) != 0;
      input.zero_init = (switches & 4) != 0;
      inputs.push_back(input);
    }
  }
  return inputs;
}

/// The items explain every difference and add up to both figures.
void expect_explained(const std::vector<EstimateLine>& lines, double estimated, double exact) {
  double left = 0, right = 0, differences = 0;
  for (const EstimateLine& line : lines) {
    left += line.estimated;
    right += line.exact;
    differences += line.exact - line.estimated;
    EXPECT_GE(line.estimated, 0) << line.item;
    EXPECT_EQ(line.estimated == line.exact, line.why.empty()) << line.item << ": " << line.why;
  }
  EXPECT_NEAR(left, estimated, 1);
  EXPECT_EQ(right, exact);
  EXPECT_NEAR(differences, exact - estimated, 1);
}

TEST(DeepSpeedEstimate, DiffersFromTheExactFigureByItsItems) {
  for (const EstimatorInput& input : estimator_inputs()) {
    for (const auto& [optimizer, accumulate, travelling] :
         {std::tuple("adamw", 1, ""), std::tuple("sgd", 2, "fp32"), std::tuple("lamb", 2, "")}) {
      SCOPED_TRACE(fmt::format("stage {}, offload {} {}, zero_init {}, {}", input.stage,
                               input.offload_optimizer, input.offload_parameters, input.zero_init,
                               optimizer));
      PlanRequest request = test::mixed_request(1.3e9, 16);
      request.recipe.run.accumulate = accumulate;
      request.recipe.run.optimizer.name = optimizer;
      request.recipe.run.reduce_dtype = travelling;
      const StagePlan plan = plan_stage(fmt::format("zero{}", input.stage), request);
      const EstimateComparison comparison = compare_with_estimator(request, plan, input);
      expect_explained(comparison.device, comparison.estimate.gpu_bytes,
                       static_cast<double>(plan.memory.peak_bytes));
      expect_explained(comparison.host, comparison.estimate.cpu_bytes, 0);
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
