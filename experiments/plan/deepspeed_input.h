/// \file
/// A DeepSpeed JSON as the recipe of a plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/config/deepspeed/overlay.h"
#include "experiments/config/run_config.h"
#include "stages/model/model_factory.h"

namespace zerolab {

/// What a plan takes from the file besides its recipe.
struct DeepSpeedPlanInput {
  std::optional<int> stage;  ///< of the block "zero_optimization"; empty: there is none
  bool offload_parameters = false, offload_optimizer = false;
  std::vector<std::string> notices;  ///< keys that were not used, values that had to give way
};

/// Writes what the file says over `run`, except over options that the command line has `given`. The
/// keys are those of compare and train, and what becomes of them is the same
/// (docs/deepspeed-config.md), except that offloading is understood, which no run here does, that
/// learning rates are not looked at, and that a file without batch sizes leaves the options'.
/// `run.ranks` must be the size of the world.
/// \throws BadInput with file and key for a file, key or value that is wrong or asks for what
/// cannot be planned.
DeepSpeedPlanInput apply_deepspeed_plan(const std::string& path, const GivenOptions& given,
                                        const ModelSpec& model, RunConfig& run);

}  // namespace zerolab
