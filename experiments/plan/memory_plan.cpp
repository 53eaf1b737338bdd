#include "experiments/plan/memory_plan.h"

#include "experiments/plan/accounting.h"
#include "experiments/plan/activations.h"
#include "experiments/predict/loop_prediction.h"
#include "stages/model/activation_formula.h"

namespace zerolab {
namespace {

constexpr Category kStates[] = {Category::kParameters,   Category::kGradients,
                                Category::kAccumulators, Category::kMasterWeights,
                                Category::kFirstMoments, Category::kSecondMoments};

CategoryBytes sum(CategoryBytes a, const CategoryBytes& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

}  // namespace

Setting plan_setting(const Recipe& recipe, const PlannedModel& model, int rank) {
  if (model.runnable) return make_setting(recipe.run, model.spec, rank);
  // The layout of a size may be none that an architecture has: the settings are made for the
  // smallest one and what was planned is put in its place.
  RunConfig run = recipe.run;
  run.checkpoint_every = 0;
  const ModelSpec stand_in{"", TiedMlpConfig{}, {}, {}};
  Setting setting = make_setting(run, stand_in, rank);
  setting.layout = model.layout;
  setting.uses = uses_of(model.spec, recipe.run.checkpoint_every);
  return setting;
}

CategoryBytes plan_loop_bytes(const Recipe& recipe, const PlannedModel& model,
                              const Setting& setting) {
  CategoryBytes bytes = loop_bytes(recipe.run, model.spec, setting);
  if (recipe.activations == Activations::kHere || !model.spec.is_gpt()) return bytes;
  const ActivationShape shape = activation_shape(recipe, model);
  of(bytes, Category::kActivations) = planned_activation_bytes(recipe, shape);
  if (setting.types.parameters != DType::kFloat32) {
    // A planned device computes on 16-bit operands as they are; only our CPU widens them.
    of(bytes, Category::kWorkspace) -=
        4 * gpt_widening_elements(model.spec.gpt(), recipe.run.micro_batch,
                                  planned_sequence(recipe, model));
  }
  return bytes;
}

MemoryPlan plan_memory(const std::string& stage, const Recipe& recipe, const PlannedModel& model,
                       const Setting& setting) {
  StagePrediction states = predict_states(stage, setting);
  if (recipe.accounting != Accounting::kMeasured) {
    const CategoryBytes published = state_bytes(state_items(recipe, stage), zero_stage(stage),
                                                model.parameters(), setting.ranks());
    for (const Category state : kStates) of(states.lasting, state) = 0;
    states.lasting = sum(states.lasting, published);
  }
  const Prediction predicted =
      predict_memory(stage, recipe.run, setting, states, plan_loop_bytes(recipe, model, setting));
  MemoryPlan plan{predicted.at_peak, predicted.peak_by_category, 0, predicted.peak_bytes,
                  predicted.peak_moment};
  for (const Category state : kStates) plan.states_bytes += of(states.lasting, state);
  return plan;
}

}  // namespace zerolab
