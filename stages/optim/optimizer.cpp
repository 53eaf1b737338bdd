#include "stages/optim/optimizer.h"

#include <map>

namespace zerolab {
namespace {

class ElementwiseOptimizer : public Optimizer {
 public:
  ElementwiseOptimizer(const OptimizerSettings& settings, Device& device, Stream& compute,
                       Kernels& kernels, std::int64_t size, bool master_weights)
      : settings_(settings), compute_(compute), kernels_(kernels) {
    std::vector<Category> states = optimizer_states(settings);
    if (master_weights) states.push_back(Category::kMasterWeights);
    for (const Category category : states) {
      Buffer state = device.allocate(DType::kFloat32, size, category,
                                     std::string(zerolab::name_of(category)), compute);
      kernels.zero(compute, state.view());
      states_.emplace(category, std::move(state));
    }
  }

  void update(const std::vector<OwnedSlice>& parameters, const std::vector<OwnedSlice>& gradients,
              View factor, const StepSettings& settings) override {
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const View values = parameters[i].values;
      const Range place{begin, begin + values.count};
      const View master = state(Category::kMasterWeights, place);
      update_slice(master.empty() ? values : master, gradients[i].values, place,
                   parameters[i].segments, factor, settings);
      if (!master.empty()) kernels_.cast(compute_, master, values);
      begin = place.end;
    }
  }

  View state(Category category) const override {
    const auto found = states_.find(category);
    return found == states_.end() ? View{} : found->second.view();
  }

 protected:
  /// Updates fp32 weights. `place` is the slice's in the states; the views are the slice's own.
  virtual void update_slice(View weights, View gradients, Range place,
                            const std::vector<Segment>& segments, View factor,
                            const StepSettings& settings) = 0;

  View state(Category category, Range place) const {
    const View whole = state(category);
    return whole.empty() ? whole : whole.slice(place);
  }

  OptimizerSettings settings_;
  Stream& compute_;
  Kernels& kernels_;

 private:
  std::map<Category, Buffer> states_;
};

class AdamW final : public ElementwiseOptimizer {
 public:
  using ElementwiseOptimizer::ElementwiseOptimizer;

  void update_slice(View weights, View gradients, Range place, const std::vector<Segment>& segments,
                    View factor, const StepSettings& settings) override {
    kernels_.adamw(compute_, weights, gradients, state(Category::kFirstMoments, place),
                   state(Category::kSecondMoments, place), factor,
                   {settings.learning_rate, settings_.beta1, settings_.beta2, settings_.epsilon,
                    settings_.weight_decay, settings.step},
                   segments);
  }
};

class SgdMomentum final : public ElementwiseOptimizer {
 public:
  using ElementwiseOptimizer::ElementwiseOptimizer;

  void update_slice(View weights, View gradients, Range place, const std::vector<Segment>& segments,
                    View factor, const StepSettings& settings) override {
    kernels_.sgd(
        compute_, weights, gradients, state(Category::kFirstMoments, place), factor,
        {settings.learning_rate, settings_.momentum, settings_.weight_decay, settings.step},
        segments);
  }
};

}  // namespace

std::vector<Category> optimizer_states(const OptimizerSettings& settings) {
  if (settings.name == "adamw") return {Category::kFirstMoments, Category::kSecondMoments};
  if (settings.name != "sgd") {
    bad_input("[optimizer] '{}' is not an optimizer; known are adamw and sgd", settings.name);
  }
  if (settings.momentum == 0) return {};
  return {Category::kFirstMoments};
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings, Device& device,
                                          Stream& compute, Kernels& kernels, std::int64_t size,
                                          bool master_weights) {
  optimizer_states(settings);  // rejects unknown names
  if (settings.name == "adamw") {
    return std::make_unique<AdamW>(settings, device, compute, kernels, size, master_weights);
  }
  return std::make_unique<SgdMomentum>(settings, device, compute, kernels, size, master_weights);
}

}  // namespace zerolab
