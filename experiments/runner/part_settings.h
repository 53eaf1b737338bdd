/// \file
/// From a configuration to the settings of a rank's parts, the same wherever a stage is built.
#pragma once

#include "experiments/config/run_config.h"
#include "stages/comm/world.h"
#include "stages/model/model_options.h"
#include "stages/parallel/stage_parts.h"
#include "stages/train/training_loop.h"

namespace zerolab {

/// The types of a run's states; `order` is the stage's own.
Precision precision_of(const RunConfig& config, AccumulationOrder order);
/// What the optimizer keeps besides the parameters: moments, and master weights in mixed precision.
std::vector<Category> optimizer_states_of(const RunConfig& config);
StageSettings stage_settings(const RunConfig& config, AccumulationOrder order);
TrainingSettings training_settings(const RunConfig& config, AccumulationOrder order);
ModelOptions model_options(const RunConfig& config);
CommSettings comm_settings(const RunConfig& config);

}  // namespace zerolab
