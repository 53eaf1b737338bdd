/// \file
/// From a configuration to the settings of a rank's parts, the same wherever a stage is built.
#pragma once

#include "experiments/config/run_config.h"
#include "stages/comm/world.h"
#include "stages/model/model_options.h"
#include "stages/parallel/stage_parts.h"
#include "stages/train/training_loop.h"

namespace zerolab {

StageSettings stage_settings(const RunConfig& config, AccumulationOrder order);
TrainingSettings training_settings(const RunConfig& config, AccumulationOrder order);
ModelOptions model_options(const RunConfig& config);
CommSettings comm_settings(const RunConfig& config);

}  // namespace zerolab
