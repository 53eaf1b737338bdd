/// \file
/// How long a step takes, where all ranks are alike: the closed form of the timeline.
#pragma once

#include <vector>

#include "experiments/plan/step_program.h"

namespace zerolab {

/// When each operation begins and ends, seconds: an operation begins when the one before it on its
/// stream and all that it waits for have ended.
struct OperationTimes {
  std::vector<double> begin, end;
};
OperationTimes operation_times(const StepProgram& program);

struct StepTime {
  double step_seconds = 0;
  double compute_seconds = 0;        ///< forward, backward and update
  double communication_seconds = 0;  ///< of all collectives
  double exposed_seconds = 0;        ///< what communication adds to the step
  double tokens_per_second = 0;      ///< of all ranks
  /// Model operations, and those of the hardware with recomputation, over the devices' peak.
  double mfu = 0, hfu = 0;
};

/// One step among many: from one update to the next. \pre the cluster is timed
StepTime plan_step_time(const std::string& stage, const Recipe& recipe, const PlannedModel& model,
                        const Setting& setting, const TimeModel& time);

}  // namespace zerolab
