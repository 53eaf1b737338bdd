// Training and evaluating the micro models: every byte held and sent is the predicted one.
#include <gtest/gtest.h>

#include "experiments/predict/prediction.h"
#include "experiments/runner/rank_run.h"
#include "experiments/runner/run_inputs.h"
#include "tests/predict/small_setting.h"

namespace zerolab {
namespace {

/// 2 steps, evaluation after each, no checks.
RunConfig short_run(int ranks, int accumulate) {
  RunConfig config;
  config.model = "gpt-micro";
  config.ranks = ranks;
  config.accumulate = accumulate;
  config.steps = 2;
  config.micro_batch = 1;
  config.evaluate_every = 1;
  config.held_out_batches = 3;
  config.checks = {};
  return config;
}

std::string described(const std::string& stage, const RunConfig& config) {
  return fmt::format("{} of {} on {} ranks, K {}, {}, overlap {}, bucket {} MiB, {}, {} order",
                     stage, config.model, config.ranks, config.accumulate, config.optimizer.name,
                     config.overlap, config.bucket_mb, name_of(config.reduction),
                     name_of(config.accumulation_order));
}

StageResult trained(const std::string& stage, const RunConfig& config, const ModelSpec& model) {
  const RunData data(config, model);
  StageRun run;
  run.name = run.stage = stage;
  run.factory = stage_factory(stage);
  run.order = config.accumulation_order;
  const auto world = make_thread_world(config.ranks);
  return run_stage(*world, {config, model, &data.batches(), nullptr}, run);
}

/// `times` the predicted volumes, by traffic and operation. Detectors have no formula.
void expect_volumes(const CommLedger::Table& predicted, std::int64_t times,
                    const CommLedger::Table& measured, const char* what) {
  for (const Traffic traffic : {Traffic::kTraining, Traffic::kControl}) {
    for (int i = 0; i < kCollectiveOpCount; ++i) {
      const auto op = static_cast<CollectiveOp>(i);
      EXPECT_EQ(times * test::volume(predicted, traffic, op), test::volume(measured, traffic, op))
          << what << ": " << name_of(traffic) << " " << name_of(op);
    }
  }
}

void expect_bytes(const Prediction& predicted, const RankResult& measured) {
  for (int i = 0; i < kCategoryCount; ++i) {
    const auto category = static_cast<Category>(i);
    if (category == Category::kChecks) continue;
    EXPECT_EQ(test::held(predicted.peak_by_category, category),
              test::held(measured.peak_by_category, category))
        << "peak of " << name_of(category);
    EXPECT_EQ(test::held(predicted.at_peak, category), test::held(measured.at_peak, category))
        << name_of(category) << " at the peak";
  }
  EXPECT_EQ(predicted.peak_bytes, measured.peak_bytes);
  // Measured "step 1 backward h.0".
  EXPECT_TRUE(measured.peak_moment.ends_with(predicted.peak_moment))
      << predicted.peak_moment << " was predicted, " << measured.peak_moment << " measured";
}

void expect_predicted(const std::string& stage, const RunConfig& config) {
  SCOPED_TRACE(described(stage, config));
  const ModelSpec model = parse_model(config.model);

  const StageResult result = trained(stage, config, model);

  ASSERT_EQ(result.ranks.size(), static_cast<std::size_t>(config.ranks));
  for (const RankResult& measured : result.ranks) {
    SCOPED_TRACE(fmt::format("rank {}", measured.rank));
    const Prediction predicted = predict(stage, config, model, measured.rank);
    expect_bytes(predicted, measured);
    expect_volumes(predicted.per_step, config.steps, measured.training_volume, "training");
    EXPECT_EQ(measured.evaluations, config.evaluate_every > 0 ? config.steps : 0);
    expect_volumes(predicted.per_evaluation, measured.evaluations, measured.evaluation_volume,
                   "evaluation");
  }
}

class Measured : public testing::TestWithParam<std::string> {
 protected:
  void expect_in_all_combinations(const char* model) {
    for (const int ranks : {1, 2, 3, 4}) {
      for (const int accumulate : {1, 3}) {
        for (const bool overlap : {true, false}) {
          for (const char* optimizer : {"adamw", "sgd"}) {
            // 8192 elements divide the tied embedding's 8192 weights; 4482 divide nothing.
            for (const double bucket_mb : {0.03125, 0.0171}) {
              RunConfig config = short_run(ranks, accumulate);
              config.model = model;
              config.overlap = overlap;
              config.optimizer.name = optimizer;
              config.bucket_mb = bucket_mb;
              expect_predicted(GetParam(), config);
              if (HasFailure()) return;
            }
          }
        }
      }
    }
  }
};

TEST_P(Measured, BytesOfGptArePredictedInEveryCombination) {
  expect_in_all_combinations("gpt-micro");
}

TEST_P(Measured, BytesOfTheTiedNetworkArePredictedInEveryCombination) {
  expect_in_all_combinations("tied-mlp");
}

TEST_P(Measured, BytesArePredictedForEveryReductionOrderAndNode) {
  for (const Reduction reduction : {Reduction::kOrdered, Reduction::kRing, Reduction::kTree}) {
    for (const int ranks_per_node : {0, 1, 3}) {
      RunConfig config = short_run(4, 5);
      config.reduction = reduction;
      config.ranks_per_node = ranks_per_node;
      expect_predicted(GetParam(), config);
    }
  }
}

TEST_P(Measured, BytesArePredictedForSequencesShorterThanTheModels) {
  RunConfig config = short_run(3, 2);
  config.sequence = 7;
  config.micro_batch = 3;
  expect_predicted(GetParam(), config);
}

TEST_P(Measured, BytesArePredictedWithoutEvaluationAndWithoutMomentum) {
  RunConfig config = short_run(2, 1);
  config.evaluate_every = 0;
  config.optimizer.name = "sgd";
  config.optimizer.momentum = 0;
  expect_predicted(GetParam(), config);
}

TEST_P(Measured, BytesArePredictedWhenRanksHaveFewerHeldOutBatchesThanThereAreRanks) {
  RunConfig config = short_run(5, 1);
  config.held_out_batches = 2;
  expect_predicted(GetParam(), config);
}

TEST_P(Measured, BytesArePredictedForARunOfNoSteps) {
  RunConfig config = short_run(3, 1);
  config.steps = 0;
  expect_predicted(GetParam(), config);
}

TEST_P(Measured, BytesArePredictedWhenCallsAreCheckedAndMemoryIsPoisoned) {
  RunConfig config = short_run(3, 2);
  config.checks = {"ORD"};
  config.poison = true;
  expect_predicted(GetParam(), config);
}

TEST_P(Measured, BytesArePredictedWhereMicroBatchesAreAddedUpLocally) {
  if (!supports_local_accumulation(GetParam())) GTEST_SKIP() << "no unreduced gradient is kept";
  for (const Reduction reduction : {Reduction::kOrdered, Reduction::kRing}) {
    RunConfig config = short_run(3, 3);
    config.accumulation_order = AccumulationOrder::kLocal;
    config.reduction = reduction;
    expect_predicted(GetParam(), config);
  }
}

INSTANTIATE_TEST_SUITE_P(Stages, Measured, testing::ValuesIn(stage_names()),
                         [](const auto& stage) { return stage.param; });

}  // namespace
}  // namespace zerolab
