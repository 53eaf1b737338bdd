/// \file
/// The settings that stages must be equal in: their values, and a run of all stages with one of
/// each.
#pragma once

#include <array>
#include <iostream>
#include <string>
#include <vector>

#include "experiments/checks/volume_check.h"
#include "tests/stages/training_run.h"

namespace zerolab {

/// One value of every setting that could make stages differ.
struct Combination {
  int ranks = 1;
  std::string precision = "fp32";
  int accumulate = 1;
  std::string optimizer = "adamw";
  double clip = 0;
  int checkpoint_every = 0;
};

/// The values that the matrices combine.
inline constexpr std::array kRanks = {1, 2, 3, 4, 8};
inline constexpr std::array kPrecisions = {"fp32", "bf16", "fp16"};
inline constexpr std::array kAccumulations = {1, 3};
inline constexpr std::array kOptimizers = {"adamw", "sgd", "lamb", "muon"};
inline constexpr std::array kClips = {0.0, 0.25};  // the latter is below every first norm
inline constexpr std::array kCheckpoints = {0, 1, 2};

/// Bucket and overlap cannot change the bits: they take turns instead of being multiplied.
struct Cut {
  double bucket_mb;
  bool overlap;
};

inline double usual_rate(const std::string& optimizer) {
  if (optimizer == "sgd") return 0.1;
  if (optimizer == "lamb") return 0.03;
  return optimizer == "muon" ? 0.02 : 0.001;
}

inline RunConfig config_of(const Combination& c) {
  RunConfig config = test_config(c.ranks, c.accumulate);
  config.precision = c.precision;
  config.optimizer.name = c.optimizer;
  config.learning_rate = usual_rate(c.optimizer);
  config.clip = c.clip;
  config.checkpoint_every = c.checkpoint_every;
  // A scale that fp16 gradients of these models survive: steps that are skipped compare nothing.
  if (c.precision == "fp16") config.loss_scale.initial_power = 12;
  return config;
}

inline RunConfig with_cut(RunConfig config, const Cut& cut) {
  config.bucket_mb = cut.bucket_mb;
  config.overlap = cut.overlap;
  return config;
}

inline std::string describe(const RunConfig& c) {
  return fmt::format(
      "{} on {} ranks, {}, accumulate {}, {}, clip {}, checkpoint every {}, bucket {} MiB, overlap "
      "{}",
      c.model, c.ranks, c.precision, c.accumulate, c.optimizer.name, c.clip, c.checkpoint_every,
      c.bucket_mb, c.overlap ? "on" : "off");
}

/// Fails where `result` holds or sends other bytes than predicted, or ranks disagree on their
/// calls.
inline void expect_predicted(const StageResult& result, const RunConfig& config) {
  expect_predicted_bytes(result, config);
  for (const Finding& finding : check_collectives(result)) ADD_FAILURE() << finding.message;
}

/// Trains DDP, which others are compared with, and fails unless it trained, clipped where it should
/// and found nothing.
inline StageResult train_reference(const RunConfig& config) {
  StageResult reference = train("ddp", config);
  for (const Finding& finding : reference.findings()) ADD_FAILURE() << finding.message;
  EXPECT_FALSE(std::ranges::all_of(reference.steps(), &StepRecord::skipped))
      << "nothing to compare";
  if (config.clip > 0) {
    EXPECT_GT(reference.steps().front().grad_norm, config.clip) << "nothing is clipped";
  }
  expect_predicted(reference, config);
  return reference;
}

}  // namespace zerolab
