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

/// Sanitizers slow the micro model down 10 to 40 times: matrices shrink to their corners then.
#ifdef ZEROLAB_SANITIZE_NAME
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// Settings of tests: the micro model, 4 steps, fingerprints and the order checker on, memory
/// poisoned and closed to accesses that were not declared.
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
  config.guarded = true;
  config.checks = {"REF", "ORD"};
  return config;
}

/// Trains `stage` in threads as the configuration says.
inline StageResult train(const std::string& stage, const RunConfig& config) {
  const ModelSpec model = model_of(config);
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
    EXPECT_EQ(a.skipped, b.skipped) << other.name << " step " << a.step;
    EXPECT_EQ(a.loss_scale, b.loss_scale) << other.name << " step " << a.step;
    if (!a.skipped) {
      EXPECT_EQ(a.grad_norm, b.grad_norm) << other.name << " step " << a.step;
    }
    EXPECT_EQ(a.held_out_loss, b.held_out_loss) << other.name << " step " << a.step;
  }
  for (const Finding& finding : other.findings())
    ADD_FAILURE() << other.name << ": " << finding.message;
}

inline Volume times(const Volume& volume, std::int64_t factor) {
  return {volume.calls * factor, volume.sent_intra * factor, volume.sent_inter * factor,
          volume.received_intra * factor, volume.received_inter * factor};
}

/// What the detectors hold is theirs; no formula predicts it.
inline CategoryBytes without_checks(CategoryBytes bytes) {
  bytes[static_cast<std::size_t>(Category::kChecks)] = 0;
  return bytes;
}

/// Fails unless every byte held and sent was predicted.
inline void expect_predicted_bytes(const StageResult& result, const RunConfig& config) {
  const ModelSpec model = model_of(config);
  for (const RankResult& rank : result.ranks) {
    const Prediction predicted = predict(result.stage, config, model, rank.rank);
    const std::string who = fmt::format("{} rank {}", result.name, rank.rank);
    EXPECT_EQ(predicted.peak_by_category, without_checks(rank.peak_by_category)) << who;
    EXPECT_EQ(predicted.at_peak, without_checks(rank.at_peak)) << who;
    EXPECT_EQ(predicted.peak_bytes, rank.peak_bytes) << who;
    for (const Traffic traffic : {Traffic::kTraining, Traffic::kControl}) {
      for (std::size_t op = 0; op < kCollectiveOpCount; ++op) {
        const auto t = static_cast<std::size_t>(traffic);
        const std::string place =
            fmt::format("{} rank {} {} {}", result.name, rank.rank, name_of(traffic),
                        name_of(static_cast<CollectiveOp>(op)));
        EXPECT_EQ(times(predicted.per_step[t][op], config.steps), rank.training_volume[t][op])
            << place;
        EXPECT_EQ(times(predicted.per_evaluation[t][op], rank.evaluations),
                  rank.evaluation_volume[t][op])
            << place << " of evaluations";
      }
    }
  }
}

}  // namespace zerolab
