#include "experiments/plan/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "experiments/plan/accounting.h"
#include "experiments/plan/activations.h"
#include "experiments/predict/loop_prediction.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr Category kStates[] = {Category::kParameters,   Category::kGradients,
                                Category::kAccumulators, Category::kMasterWeights,
                                Category::kFirstMoments, Category::kSecondMoments};

StagePrediction predict_states_of(const std::string& stage, const Setting& setting) {
  switch (zero_stage(stage)) {
    case 0:
      return predict_ddp(setting);
    case 1:
      return predict_zero1(setting);
    case 2:
      return predict_zero2(setting);
    default:
      return predict_zero3(setting);
  }
}

CategoryBytes sum(CategoryBytes a, const CategoryBytes& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

void visit(MemoryPlan& plan, const CategoryBytes& held, const std::string& moment) {
  const std::int64_t total = std::accumulate(held.begin(), held.end(), std::int64_t{0});
  for (std::size_t i = 0; i < held.size(); ++i) {
    plan.peak_by_category[i] = std::max(plan.peak_by_category[i], held[i]);
  }
  if (total <= plan.peak_bytes) return;
  plan.peak_bytes = total;
  plan.at_peak = held;
  plan.peak_moment = moment;
}

}  // namespace

Setting plan_setting(const Recipe& recipe, const PlannedModel& model, int rank) {
  // The layout of a planned model may be none that an architecture has: the settings are made for
  // the smallest one and the layout is put in its place.
  const ModelSpec stand_in{"", TiedMlpConfig{}, {}, {}};
  Setting setting = make_setting(recipe.run, stand_in, rank);
  setting.layout = model.layout;
  setting.uses = model.uses;
  return setting;
}

StagePrediction plan_states(const std::string& stage, const Setting& setting) {
  return predict_states_of(stage, setting);
}

CategoryBytes plan_loop_bytes(const Recipe& recipe, const PlannedModel& model,
                              const Setting& setting) {
  // A planned device computes on 16-bit operands as they are; only our CPU widens them.
  Setting plain = setting;
  plain.types = {};
  CategoryBytes bytes = loop_bytes(recipe.run, model.spec, plain);
  if (!model.spec.is_gpt()) return bytes;
  const bool ours = recipe.run.precision == "fp32" && recipe.recompute == Recompute::kNone;
  if (ours) return bytes;
  const ActivationShape shape = activation_shape(recipe, model);
  of(bytes, Category::kActivations) = planned_activation_bytes(recipe, shape);
  return bytes;
}

MemoryPlan plan_memory(const std::string& stage, const Recipe& recipe, const PlannedModel& model,
                       const Setting& setting) {
  const StagePrediction states = plan_states(stage, setting);
  CategoryBytes lasting = states.lasting;
  if (recipe.accounting != Accounting::kMeasured) {
    const CategoryBytes published = state_bytes(state_items(recipe, stage), zero_stage(stage),
                                                model.parameters(), setting.ranks());
    for (const Category state : kStates) of(lasting, state) = 0;
    lasting = sum(lasting, published);
  }
  MemoryPlan plan;
  for (const Category state : kStates) plan.states_bytes += of(lasting, state);
  lasting = sum(lasting, plan_loop_bytes(recipe, model, setting));
  visit(plan, lasting, "");
  for (const Moment& moment : states.training) {
    visit(plan, sum(lasting, moment.bytes), moment.name);
  }
  if (recipe.run.evaluate_every > 0) {
    for (const Moment& moment : states.evaluation) {
      visit(plan, sum(lasting, moment.bytes), moment.name);
    }
  }
  return plan;
}

}  // namespace zerolab
