/// \file
/// One call that trains a stage and brings everything home, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "experiments/checks/check_factory.h"
#include "experiments/compare/comparison.h"
#include "experiments/predict/prediction.h"
#include "experiments/runner/rank_run.h"
#include "experiments/runner/run_inputs.h"

namespace zerolab {

/// Settings of tests: the micro model, 4 steps, fingerprints and the order checker on, memory
/// poisoned.
inline RunConfig test_config(int ranks, int accumulate) {
  RunConfig config;
  config.model = "gpt-micro";
  config.ranks = ranks;
  config.accumulate = accumulate;
  config.steps = 4;
  config.micro_batch = 2;
  config.warmup_steps = 2;
  config.evaluate_every = 2;
  config.held_out_batches = 3;
  config.bucket_mb = 0.03;
  config.poison = true;
  config.checks = {"REF", "ORD"};
  return config;
}

/// Trains `stage` in threads as the configuration says.
inline StageResult train(const std::string& stage, const RunConfig& config) {
  const ModelSpec model = parse_model(config.model);
  const RunData data(config, model);
  const auto world = make_thread_world(config.ranks);
  StageRun run;
  run.name = run.stage = stage;
  run.factory = stage_factory(stage);
  run.order = config.accumulation_order;
  run.checks = [&config](const CheckContext& context) {
    return make_checks(config.checks, context);
  };
  return run_stage(*world, {config, model, &data.batches(), nullptr}, run);
}

/// Fails unless both runs have the same bits in every fingerprint, loss and norm, and no findings.
inline void expect_equal_bits(const StageResult& reference, const StageResult& other) {
  const auto expected = reference.fingerprints();
  const auto values = other.fingerprints();
  ASSERT_FALSE(expected.empty());
  ASSERT_EQ(expected.size(), values.size());
  for (std::size_t s = 0; s < expected.size(); ++s) {
    ASSERT_EQ(expected[s].values, values[s].values)
        << other.name << " differs from " << reference.name << " at step " << expected[s].step;
  }
  ASSERT_EQ(reference.steps().size(), other.steps().size());
  for (std::size_t s = 0; s < reference.steps().size(); ++s) {
    const StepRecord& a = reference.steps()[s];
    const StepRecord& b = other.steps()[s];
    EXPECT_EQ(a.loss, b.loss) << other.name << " step " << a.step;  // NaN is never equal
    EXPECT_EQ(a.grad_norm, b.grad_norm) << other.name << " step " << a.step;
    EXPECT_EQ(a.held_out_loss, b.held_out_loss) << other.name << " step " << a.step;
  }
  for (const Finding& finding : other.findings())
    ADD_FAILURE() << other.name << ": " << finding.message;
}

/// Fails unless every byte held and sent was predicted.
inline void expect_predicted_bytes(const StageResult& result, const RunConfig& config) {
  const ModelSpec model = parse_model(config.model);
  for (const RankResult& rank : result.ranks) {
    const Prediction predicted = predict(result.stage, config, model, rank.rank);
    CategoryBytes held = rank.peak_by_category;
    held[static_cast<std::size_t>(Category::kChecks)] = 0;  // the detectors' own
    EXPECT_EQ(predicted.peak_by_category, held) << result.name << " rank " << rank.rank;
    EXPECT_EQ(predicted.peak_bytes, rank.peak_bytes) << result.name << " rank " << rank.rank;
    for (const Traffic traffic : {Traffic::kTraining, Traffic::kControl}) {
      for (std::size_t op = 0; op < kCollectiveOpCount; ++op) {
        const auto t = static_cast<std::size_t>(traffic);
        const Volume& measured = rank.training_volume[t][op];
        const Volume& step = predicted.per_step[t][op];
        EXPECT_EQ(step.sent() * config.steps, measured.sent())
            << result.name << " rank " << rank.rank << " "
            << name_of(static_cast<CollectiveOp>(op));
        EXPECT_EQ(step.received() * config.steps, measured.received())
            << result.name << " rank " << rank.rank << " "
            << name_of(static_cast<CollectiveOp>(op));
        EXPECT_EQ(step.calls * config.steps, measured.calls)
            << result.name << " rank " << rank.rank << " "
            << name_of(static_cast<CollectiveOp>(op));
        EXPECT_EQ(predicted.per_evaluation[t][op].sent() * rank.evaluations,
                  rank.evaluation_volume[t][op].sent())
            << result.name << " rank " << rank.rank << " evaluation";
      }
    }
  }
}

}  // namespace zerolab
