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

StagePrediction predict_in_fp32(const std::string& stage, const Setting& setting) {
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

std::int64_t bytes_of(Category category, const StateDTypes& dtypes) {
  switch (category) {
    case Category::kParameters:
    case Category::kGatheredParameters:
      return static_cast<std::int64_t>(size_of(dtypes.parameters));
    case Category::kGradients:
    case Category::kUnitGradients:
      return static_cast<std::int64_t>(size_of(dtypes.gradients));
    case Category::kGradientBuckets:
      return static_cast<std::int64_t>(size_of(dtypes.payload));
    case Category::kAccumulators:
      return static_cast<std::int64_t>(size_of(dtypes.accumulators));
    default:
      return 4;
  }
}

void change_dtypes(CategoryBytes& bytes, const StateDTypes& dtypes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = bytes[i] / 4 * bytes_of(static_cast<Category>(i), dtypes);
  }
}

void change_dtypes(CommLedger::Table& table, const StateDTypes& dtypes) {
  auto& training = table[static_cast<std::size_t>(Traffic::kTraining)];
  const auto change = [&](CollectiveOp op, DType dtype) {
    const auto size = static_cast<std::int64_t>(size_of(dtype));
    Volume& volume = training[static_cast<std::size_t>(op)];
    for (std::int64_t* bytes :
         {&volume.sent_intra, &volume.sent_inter, &volume.received_intra, &volume.received_inter}) {
      *bytes = *bytes / 4 * size;
    }
  };
  change(CollectiveOp::kAllReduce, dtypes.payload);
  change(CollectiveOp::kReduceScatter, dtypes.payload);
  change(CollectiveOp::kAllGather, dtypes.parameters);
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
  const ModelSpec stand_in{"", TiedMlpConfig{}, {}};
  Setting setting = make_setting(recipe.run, stand_in, rank);
  setting.layout = model.layout;
  setting.uses = model.uses;
  return setting;
}

StagePrediction plan_states(const std::string& stage, const Recipe& recipe,
                            const Setting& setting) {
  StagePrediction states = predict_in_fp32(stage, setting);
  const StateDTypes dtypes = state_dtypes(recipe.run);
  if (dtypes.master_weights) {
    // ZeRO-1 and ZeRO-2 keep all parameters but only their share of what the optimizer needs.
    const std::int64_t parameters = of(states.lasting, Category::kParameters);
    const bool of_share = stage == "zero1" || stage == "zero2";
    of(states.lasting, Category::kMasterWeights) =
        of_share ? parameters / setting.ranks() : parameters;
  }
  if (dtypes == StateDTypes{}) return states;
  change_dtypes(states.lasting, dtypes);
  for (Moment& moment : states.training) change_dtypes(moment.bytes, dtypes);
  for (Moment& moment : states.evaluation) change_dtypes(moment.bytes, dtypes);
  change_dtypes(states.per_step, dtypes);
  change_dtypes(states.per_held_out, dtypes);
  return states;
}

CategoryBytes plan_loop_bytes(const Recipe& recipe, const PlannedModel& model,
                              const Setting& setting) {
  CategoryBytes bytes = loop_bytes(recipe.run, model.spec, setting);
  if (!model.spec.is_gpt()) return bytes;
  const bool ours = recipe.run.precision == "fp32" && recipe.recompute == Recompute::kNone;
  if (ours) return bytes;
  const ActivationShape shape = activation_shape(recipe, model);
  of(bytes, Category::kActivations) = planned_activation_bytes(recipe, shape);
  return bytes;
}

MemoryPlan plan_memory(const std::string& stage, const Recipe& recipe, const PlannedModel& model,
                       const Setting& setting) {
  const StagePrediction states = plan_states(stage, recipe, setting);
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
