#include "stages/optim/slice_optimizer.h"

namespace zerolab {

SliceOptimizer::SliceOptimizer(const OptimizerSettings& settings, const OptimizerParts& parts)
    : settings_(settings), compute_(parts.compute), comm_(parts.comm), kernels_(parts.kernels) {
  std::vector<Category> states = optimizer_states(settings);
  if (parts.master_weights) states.push_back(Category::kMasterWeights);
  for (const Category category : states) {
    Buffer state = parts.device.allocate(DType::kFloat32, parts.size, category,
                                         std::string(name_of(category)), compute_);
    kernels_.zero(compute_, state.view());
    states_.emplace(category, std::move(state));
  }
}

void SliceOptimizer::update(const std::vector<OwnedSlice>& parameters,
                            const std::vector<OwnedSlice>& gradients, View factor,
                            const StepSettings& settings) {
  std::vector<UpdateSlice> slices;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Range place{begin, begin + parameters[i].values.count};
    const View master = state(Category::kMasterWeights, place);
    slices.push_back({master.empty() ? parameters[i].values : master, gradients[i].values, place,
                      parameters[i].segments});
    begin = place.end;
  }
  prepare(slices, factor, settings);
  const bool mixed = !state(Category::kMasterWeights).empty();
  for (std::size_t i = 0; i < slices.size(); ++i) {
    update_slice(slices[i], factor, settings);
    if (mixed) kernels_.cast(compute_, slices[i].parameters, parameters[i].values);
  }
}

void SliceOptimizer::prepare(const std::vector<UpdateSlice>&, View, const StepSettings&) {}

View SliceOptimizer::state(Category category) const {
  const auto found = states_.find(category);
  return found == states_.end() ? View{} : found->second.view();
}

View SliceOptimizer::state(Category category, Range place) const {
  const View whole = state(category);
  return whole.empty() ? whole : whole.slice(place);
}

AdamWRule SliceOptimizer::adamw_rule(const StepSettings& settings) const {
  return {settings.learning_rate, settings_.beta1, settings_.beta2, settings_.epsilon,
          settings_.weight_decay, settings.step,   settings_.groups};
}

}  // namespace zerolab
