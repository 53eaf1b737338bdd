// Training and evaluating the micro models: every byte held and sent is the predicted one.
#include "tests/predict/measured_run.h"
#include "tests/stages/covering_array.h"

namespace zerolab {
namespace {

using test::short_run;

void expect_predicted(const std::string& stage, const RunConfig& config) {
  test::expect_predicted(stage, config, *make_thread_world(config.ranks));
}

class Measured : public testing::TestWithParam<std::string> {
 protected:
  /// In a table of all pairs; the bytes of the full product are the matrix's of tests/stages.
  void expect_in_all_pairs(const char* model) {
    constexpr int kRanks[] = {1, 2, 3, 4};
    for (const std::vector<int>& row : covering_array({4, 2, 2, 2, 2})) {
      RunConfig config = short_run(kRanks[row[0]], row[1] == 0 ? 1 : 3);
      config.model = model;
      config.overlap = row[2] == 0;
      config.optimizer.name = row[3] == 0 ? "adamw" : "sgd";
      // 8192 elements divide the tied embedding's 8192 weights; 4482 divide nothing.
      config.bucket_mb = row[4] == 0 ? 0.03125 : 0.0171;
      expect_predicted(GetParam(), config);
      if (HasFailure()) return;
    }
  }
};

TEST_P(Measured, BytesOfGptArePredictedInEveryPairOfSettings) { expect_in_all_pairs("gpt-micro"); }

TEST_P(Measured, BytesOfTheTiedNetworkArePredictedInEveryPairOfSettings) {
  expect_in_all_pairs("tied-mlp");
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

TEST_P(Measured, BytesArePredictedForOptimizersThatLookAtWholeTensors) {
  for (const char* optimizer : {"lamb", "muon"}) {
    for (const int ranks_per_node : {0, 2}) {
      RunConfig config = short_run(3, 2);
      config.optimizer.name = optimizer;
      config.ranks_per_node = ranks_per_node;
      config.bucket_mb = 0.0171;
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

TEST_P(Measured, BytesArePredictedForAReplayThatStopsEarly) {
  RunConfig config = short_run(2, 1);
  config.stop_after = 1;
  expect_predicted(GetParam(), config);
}

TEST_P(Measured, BytesArePredictedWhenCallsAreCheckedAndMemoryIsPoisoned) {
  RunConfig config = short_run(3, 2);
  config.checks = {"ORD"};
  config.poison = true;
  expect_predicted(GetParam(), config);
}

TEST_P(Measured, BytesArePredictedWithActivationCheckpointsAndDropout) {
  for (const int every : {1, 3}) {
    for (const bool overlap : {true, false}) {
      RunConfig config = short_run(2, 1);
      config.model = "gpt-tiny";  // four blocks: the last segment of three is one
      config.sequence = 8;
      config.overlap = overlap;
      config.dropout = 0.1;
      config.checkpoint_every = every;
      expect_predicted(GetParam(), config);
    }
  }
}

TEST_P(Measured, BytesArePredictedWhereTokensAreCountedAndBlocksBypassed) {
  for (const int every : {1, 2}) {
    RunConfig config = short_run(3, 5);
    config.padding = 0.5;
    config.skip_block_every = every;
    config.checkpoint_every = every - 1;
    expect_predicted(GetParam(), config);
  }
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
