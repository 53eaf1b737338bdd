/// \file
/// Bytes that one rank of a planned run holds, by category, and when most.
#pragma once

#include <string>

#include "experiments/plan/recipe.h"
#include "experiments/predict/prediction.h"

namespace zerolab {

/// One stage on one rank.
struct MemoryPlan {
  CategoryBytes at_peak{};           ///< by category at the moment of the largest total
  CategoryBytes peak_by_category{};  ///< each category's own peak
  std::int64_t states_bytes = 0;     ///< parameters, gradients, accumulators, optimizer states
  std::int64_t peak_bytes = 0;
  std::string peak_moment;  ///< "backward h.2"; empty: held all the time
};

/// What the formulas of experiments/predict are evaluated on.
Setting plan_setting(const Recipe& recipe, const PlannedModel& model, int rank);

/// Activations and scratch, as a run here holds them or as published (`Recipe::activations`).
CategoryBytes plan_loop_bytes(const Recipe& recipe, const PlannedModel& model,
                              const Setting& setting);

/// \throws BadInput for an unknown stage.
MemoryPlan plan_memory(const std::string& stage, const Recipe& recipe, const PlannedModel& model,
                       const Setting& setting);

}  // namespace zerolab
