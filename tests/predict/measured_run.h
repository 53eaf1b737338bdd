/// \file
/// Trains a stage and holds every byte against the prediction.
#pragma once

#include <gtest/gtest.h>

#include "experiments/predict/prediction.h"
#include "experiments/runner/rank_run.h"
#include "experiments/runner/run_inputs.h"
#include "tests/predict/small_setting.h"

namespace zerolab::test {

/// 2 steps, evaluation after each, no checks.
inline RunConfig short_run(int ranks, int accumulate) {
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

inline std::string described(const std::string& stage, const RunConfig& config) {
  return fmt::format("{} of {} on {} ranks, K {}, {}, overlap {}, bucket {} MiB, {}, {} order",
                     stage, config.model, config.ranks, config.accumulate, config.optimizer.name,
                     config.overlap, config.bucket_mb, name_of(config.reduction),
                     name_of(config.accumulation_order));
}

inline StageResult run_to_the_end(const std::string& stage, const RunConfig& config,
                                  const ModelSpec& model, World& world) {
  const RunData data(config, model);
  StageRun run;
  run.name = run.stage = stage;
  run.factory = stage_factory(stage);
  run.order = config.accumulation_order;
  return run_stage(world, {config, model, &data.batches(), nullptr}, run);
}

/// `times` the predicted volumes, by traffic and operation. Detectors have no formula.
inline void expect_volumes(const CommLedger::Table& predicted, std::int64_t times,
                           const CommLedger::Table& measured, const char* what) {
  for (const Traffic traffic : {Traffic::kTraining, Traffic::kControl}) {
    for (int i = 0; i < kCollectiveOpCount; ++i) {
      const auto op = static_cast<CollectiveOp>(i);
      EXPECT_EQ(times * volume(predicted, traffic, op), volume(measured, traffic, op))
          << what << ": " << name_of(traffic) << " " << name_of(op);
    }
  }
}

inline void expect_bytes(const Prediction& predicted, const RankResult& measured) {
  for (int i = 0; i < kCategoryCount; ++i) {
    const auto category = static_cast<Category>(i);
    if (category == Category::kChecks) continue;
    EXPECT_EQ(held(predicted.peak_by_category, category), held(measured.peak_by_category, category))
        << "peak of " << name_of(category);
    EXPECT_EQ(held(predicted.at_peak, category), held(measured.at_peak, category))
        << name_of(category) << " at the peak";
  }
  EXPECT_EQ(predicted.peak_bytes, measured.peak_bytes);
  // Measured "step 1 backward h.0".
  EXPECT_TRUE(measured.peak_moment.ends_with(predicted.peak_moment))
      << predicted.peak_moment << " was predicted, " << measured.peak_moment << " measured";
}

/// Trains on all ranks of `world` and fails unless every byte was predicted.
inline void expect_predicted(const std::string& stage, const RunConfig& config, World& world) {
  SCOPED_TRACE(described(stage, config));
  const ModelSpec model = model_of(config);

  const StageResult result = run_to_the_end(stage, config, model, world);

  ASSERT_EQ(result.ranks.size(), static_cast<std::size_t>(config.ranks));
  for (const RankResult& measured : result.ranks) {
    SCOPED_TRACE(fmt::format("rank {}", measured.rank));
    const Prediction predicted = predict(stage, config, model, measured.rank);
    expect_bytes(predicted, measured);
    expect_volumes(predicted.per_step, config.trained_steps(), measured.training_volume,
                   "training");
    EXPECT_EQ(measured.evaluations, config.evaluate_every > 0 ? config.trained_steps() : 0);
    expect_volumes(predicted.per_evaluation, measured.evaluations, measured.evaluation_volume,
                   "evaluation");
  }
}

}  // namespace zerolab::test
