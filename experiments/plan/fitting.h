/// \file
/// What fits into the devices' memory: the largest model, the largest batch, the cheapest stage.
#pragma once

#include <optional>
#include <string>

#include "experiments/plan/stage_plans.h"

namespace zerolab {

/// The largest model that fits: blocks of this request's proportions, everything counted.
/// 0: not even the smallest. \pre the device's memory is known
std::int64_t largest_model(const std::string& stage, const PlanRequest& request);

/// The largest by model states alone, memory over bytes a parameter, as papers print it.
double largest_by_states(const std::string& stage, const PlanRequest& request);

/// The largest micro-batch of the request's model that fits; 0: none.
std::int64_t largest_micro_batch(const std::string& stage, const PlanRequest& request);

/// Which stage to take, and why.
struct Advice {
  std::string stage;  ///< empty: none fits
  std::string reason;
};

/// Of the stages that fit, the one that takes the shortest step; without times, that sends least.
/// Of stages within 1 % of it the lowest, which is the simplest. \pre the memory is known
Advice cheapest_stage(const std::vector<StagePlan>& plans, const PlanRequest& request);

}  // namespace zerolab
