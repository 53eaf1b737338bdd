// No check raises an alarm on a clean stage.
#include <gtest/gtest.h>

#include "experiments/checks/memory_check.h"
#include "experiments/checks/reference_check.h"
#include "experiments/checks/volume_check.h"
#include "tests/checks/rig.h"

namespace zerolab::test {
namespace {

std::string name_of(const std::string& stage, const RunConfig& config) {
  return fmt::format("{} on {} ranks with {} micro-batches, {} order, reduction {}", stage,
                     config.ranks, config.accumulate, zerolab::name_of(config.accumulation_order),
                     zerolab::name_of(config.reduction));
}

void expect_silence(const RunConfig& config, const std::string& stage) {
  SCOPED_TRACE(name_of(stage, config));
  const StageResult result = train(config, stage);
  EXPECT_EQ(text_of(result.findings()), "");
  EXPECT_EQ(text_of(check_collectives(result)), "");
  for (const RankResult& rank : result.ranks) {
    const Prediction predicted = predict(stage, config, model_of(config), rank.rank);
    EXPECT_EQ(text_of(check_volume(rank, predicted, config)), "");
    EXPECT_EQ(text_of(check_memory(rank, predicted, config)), "");
  }
  EXPECT_EQ(text_of(provenance(config, stage_run(stage, config.accumulation_order))), "");
}

TEST(CleanRuns, RaiseNoAlarmInAnyStageAndShape) {
  for (const Shape shape : kShapes) {
    for (const std::string& stage : stage_names()) {
      expect_silence(micro_config(shape.ranks, shape.accumulate), stage);
    }
  }
}

TEST(CleanRuns, RaiseNoAlarmInLocalOrder) {
  for (const int ranks : {1, 3, 4}) {
    for (const std::string stage : {"ddp", "zero1"}) {
      RunConfig config = micro_config(ranks, 3);
      config.accumulation_order = AccumulationOrder::kLocal;
      expect_silence(config, stage);
    }
  }
}

TEST(CleanRuns, RaiseNoAlarmWithTreeAndRingReductions) {
  for (const std::string& stage : stage_names()) {
    RunConfig tree = micro_config(4, 3);
    tree.reduction = Reduction::kTree;
    expect_silence(tree, stage);
    for (const int ranks : {2, 3, 4}) {
      RunConfig ring = micro_config(ranks, 2);
      ring.reduction = Reduction::kRing;
      expect_silence(ring, stage);
    }
  }
}

TEST(CleanRuns, RaiseNoAlarmWithoutOverlapMomentumOrClipping) {
  for (const std::string& stage : stage_names()) {
    RunConfig config = micro_config(3, 2);
    config.overlap = false;
    config.clip = 0;
    config.optimizer.name = "sgd";
    config.optimizer.momentum = 0;
    expect_silence(config, stage);
  }
}

TEST(CleanRuns, RaiseNoAlarmWithATiedNetwork) {
  for (const std::string& stage : stage_names()) {
    RunConfig config = micro_config(3, 2);
    config.model = "tied-mlp";
    expect_silence(config, stage);
  }
}

TEST(CleanRuns, RaiseNoAlarmWithFrozenTensors) {
  for (const std::string& stage : stage_names()) {
    for (const std::string pattern : {"*.bias", "h.0.*", "w?e.*"}) {
      RunConfig config = micro_config(3, 2);
      config.frozen = {pattern};
      expect_silence(config, stage);
      EXPECT_EQ(text_of(check_reference(train(config, "ddp"), train(config, stage),
                                        layout_of(config), config.steps)),
                "");
    }
  }
}

TEST(CleanRuns, OfAllStagesHaveTheFingerprintsOfDdp) {
  for (const Shape shape : {Shape{3, 1}, Shape{2, 3}}) {
    const RunConfig config = micro_config(shape.ranks, shape.accumulate);
    const StageResult reference = train(config, "ddp");
    for (const std::string stage : {"zero1", "zero2", "zero3"}) {
      SCOPED_TRACE(name_of(stage, config));
      EXPECT_EQ(text_of(check_reference(reference, train(config, stage), layout_of(config),
                                        config.steps)),
                "");
    }
  }
}

TEST(CleanRuns, StayCleanUnderTheOrderChecker) {
  for (const std::string& stage : stage_names()) {
    RunConfig config = micro_config(3, 2);
    config.checks.push_back("ORD");
    EXPECT_EQ(text_of(of("ORD", train(config, stage).findings())), "") << stage;
  }
}

}  // namespace
}  // namespace zerolab::test
