#include "experiments/plan/stage_plans.h"

#include "experiments/plan/accounting.h"
#include "experiments/runner/stage_factory.h"

namespace zerolab {

Recipe recipe_of(const std::string& stage, const Recipe& recipe) {
  Recipe own = recipe;
  if (!supports_local_accumulation(stage)) {
    own.run.accumulation_order = AccumulationOrder::kReduced;
  }
  return own;
}

StagePlan plan_stage(const std::string& stage, const PlanRequest& request) {
  const int number = zero_stage(stage);
  const Recipe recipe = recipe_of(stage, request.recipe);
  const PlannedModel& model = request.model;
  const Setting setting = plan_setting(recipe, model, edge_rank(recipe.run));

  StagePlan plan;
  plan.stage = stage;
  plan.memory = plan_memory(stage, recipe, model, setting);
  plan.traffic = plan_traffic(stage, recipe, model, setting);
  plan.bytes_per_parameter =
      bytes_per_parameter(state_items(recipe, stage), number, recipe.run.ranks);
  if (request.time.cluster.timed()) {
    plan.time = plan_step_time(stage, recipe, model, setting, request.time);
  }
  const double memory = request.time.cluster.device.memory_bytes;
  if (memory > 0) plan.fits = static_cast<double>(plan.memory.peak_bytes) <= memory;
  return plan;
}

std::vector<StagePlan> plan_stages(const PlanRequest& request) {
  validate(request.time.cluster);
  validate(request.recipe, request.model);
  std::vector<StagePlan> plans;
  for (const std::string& stage : request.stages) plans.push_back(plan_stage(stage, request));
  return plans;
}

}  // namespace zerolab
