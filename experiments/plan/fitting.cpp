#include "experiments/plan/fitting.h"

#include <algorithm>

#include "experiments/plan/accounting.h"
#include "experiments/plan/units.h"

namespace zerolab {
namespace {

constexpr double kTie = 1.01;

bool fits(const std::string& stage, const PlanRequest& request, const Recipe& recipe,
          const PlannedModel& model) {
  if (!is_countable(recipe, model)) return false;
  const Setting setting = plan_setting(recipe, model, 0);
  const MemoryPlan memory = plan_memory(stage, recipe, model, setting);
  return static_cast<double>(memory.peak_bytes) <= request.time.cluster.device.memory_bytes;
}

/// The largest count in [low, high] that `holds`, which is true up to some count; low − 1: none.
template <class Holds>
std::int64_t largest(std::int64_t low, std::int64_t high, std::int64_t grain, const Holds& holds) {
  if (!holds(low)) return low - 1;
  if (holds(high)) return high;
  while (high - low > std::max<std::int64_t>(1, low / grain)) {
    const std::int64_t middle = low + (high - low) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

double cost(const StagePlan& plan) {
  return plan.time ? plan.time->step_seconds : static_cast<double>(plan.traffic.sent);
}

}  // namespace

std::int64_t largest_model(const std::string& stage, const PlanRequest& request) {
  const Recipe recipe = recipe_of(stage, request.recipe);
  ModelRequest shape;
  if (request.model.spec.is_gpt()) {
    shape.vocabulary = request.model.spec.gpt().vocabulary;
    shape.positions = request.model.spec.gpt().max_time;
  }
  const std::int64_t found =
      largest(kFewestParameters, kMostParameters, 1000, [&](std::int64_t parameters) {
        return fits(stage, request, recipe, model_of_parameters(parameters, shape));
      });
  return found < kFewestParameters ? 0 : found;
}

double largest_by_states(const std::string& stage, const PlanRequest& request) {
  const Recipe recipe = recipe_of(stage, request.recipe);
  return request.time.cluster.device.memory_bytes /
         bytes_per_parameter(state_items(recipe, stage), zero_stage(stage), recipe.run.ranks);
}

std::int64_t largest_micro_batch(const std::string& stage, const PlanRequest& request) {
  return largest(1, 1 << 20, 1 << 20, [&](std::int64_t batch) {
    Recipe recipe = recipe_of(stage, request.recipe);
    recipe.run.micro_batch = batch;
    return fits(stage, request, recipe, request.model);
  });
}

Advice cheapest_stage(const std::vector<StagePlan>& plans, const PlanRequest& request) {
  const StagePlan* best = nullptr;
  const StagePlan* smallest = nullptr;
  for (const StagePlan& plan : plans) {
    if (!smallest || plan.memory.peak_bytes < smallest->memory.peak_bytes) smallest = &plan;
    if (plan.fits != true) continue;
    if (!best || cost(plan) < cost(*best) / kTie) best = &plan;
  }
  const std::string memory = size_text(request.time.cluster.device.memory_bytes);
  if (!best) {
    return {"", fmt::format("even {} holds {} at {} where the device has {}",
                            smallest->stage, size_text(smallest->memory.peak_bytes),
                            moment_text(smallest->memory.peak_moment), memory)};
  }
  std::string reason =
      fmt::format("{} holds {} of {}", best->stage, size_text(best->memory.peak_bytes), memory);
  for (const StagePlan& plan : plans) {
    if (&plan == best) continue;
    if (plan.fits != true) {
      reason +=
          fmt::format("; {} does not fit ({})", plan.stage, size_text(plan.memory.peak_bytes));
    } else if (cost(plan) <= kTie * cost(*best) && cost(plan) >= cost(*best) / kTie) {
      reason += fmt::format("; {} {} as {}", plan.stage, plan.time ? "takes" : "sends",
                            plan.time ? "long" : "much");
    } else if (plan.time) {
      reason += fmt::format("; a step of {} takes {:.3g} times as long", plan.stage,
                            cost(plan) / cost(*best));
    } else if (best->traffic.sent > 0) {
      reason +=
          fmt::format("; {} sends {:.3g} times as much", plan.stage, cost(plan) / cost(*best));
    }
  }
  return {best->stage, reason};
}

}  // namespace zerolab
