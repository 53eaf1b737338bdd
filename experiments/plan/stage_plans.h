/// \file
/// A plan: what each stage would hold, send and take, and what fits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/plan/memory_plan.h"
#include "experiments/plan/step_time.h"
#include "experiments/plan/traffic_plan.h"

namespace zerolab {

struct PlanRequest {
  PlannedModel model;
  Recipe recipe;
  TimeModel time;                   ///< cluster and collectives
  std::vector<std::string> stages;  ///< "ddp", "zero3"
};

struct StagePlan {
  std::string stage;
  MemoryPlan memory;
  TrafficPlan traffic;
  double bytes_per_parameter = 0;  ///< of the accounting, on one rank
  std::optional<StepTime> time;    ///< where the cluster is timed
  std::optional<bool> fits;        ///< where the device's memory is known
};

/// The recipe with the accumulation order that the stage can follow: local where it is asked for
/// and the stage keeps whole gradients.
Recipe recipe_of(const std::string& stage, const Recipe& recipe);

/// \throws BadInput for an unknown stage.
StagePlan plan_stage(const std::string& stage, const PlanRequest& request);

/// Every stage of the request, after its rules have been checked. \throws BadInput
std::vector<StagePlan> plan_stages(const PlanRequest& request);

}  // namespace zerolab
