// AdamW and SGD, which need nothing but the element itself, and the list of all optimizers.
#include "stages/optim/optimizer.h"

#include "stages/core/error.h"
#include "stages/core/join.h"
#include "stages/optim/lamb.h"
#include "stages/optim/muon.h"
#include "stages/optim/slice_optimizer.h"

namespace zerolab {
namespace {

class AdamW final : public SliceOptimizer {
 public:
  using SliceOptimizer::SliceOptimizer;

 protected:
  void update_slice(const UpdateSlice& slice, View factor, const StepSettings& settings) override {
    kernels_.adamw(
        compute_, slice.parameters, slice.gradients, state(Category::kFirstMoments, slice.place),
        state(Category::kSecondMoments, slice.place), factor, adamw_rule(settings), slice.segments);
  }
};

class SgdMomentum final : public SliceOptimizer {
 public:
  using SliceOptimizer::SliceOptimizer;

 protected:
  void update_slice(const UpdateSlice& slice, View factor, const StepSettings& settings) override {
    kernels_.sgd(compute_, slice.parameters, slice.gradients,
                 state(Category::kFirstMoments, slice.place), factor,
                 {settings.learning_rate, settings_.momentum, settings_.weight_decay, settings.step,
                  settings_.groups},
                 slice.segments);
  }
};

}  // namespace

std::string_view name_of(LambNorms norms) {
  return norms == LambNorms::kTensor ? "tensor" : "shard";
}

const std::vector<std::string>& optimizer_names() {
  static const std::vector<std::string> names = {"adamw", "sgd", "lamb", "muon"};
  return names;
}

std::vector<Category> optimizer_states(const OptimizerSettings& settings) {
  if (settings.name == "sgd") {
    if (settings.momentum == 0) return {};
    return {Category::kFirstMoments};
  }
  for (const std::string& name : optimizer_names()) {
    if (settings.name == name) return {Category::kFirstMoments, Category::kSecondMoments};
  }
  bad_input("[optimizer] '{}' is not an optimizer; known are {}", settings.name,
            joined(optimizer_names()));
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings,
                                          const OptimizerParts& parts) {
  optimizer_states(settings);  // rejects unknown names
  if (settings.name == "sgd") return std::make_unique<SgdMomentum>(settings, parts);
  if (settings.name == "lamb") return std::make_unique<Lamb>(settings, parts);
  if (settings.name == "muon") return std::make_unique<Muon>(settings, parts);
  return std::make_unique<AdamW>(settings, parts);
}

}  // namespace zerolab
