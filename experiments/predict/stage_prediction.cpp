#include "experiments/predict/stage_prediction.h"

#include "experiments/predict/optimizer_prediction.h"

namespace zerolab {

void add_states(CategoryBytes& bytes, const Setting& setting, std::int64_t elements) {
  for (const Category state : optimizer_state_categories(setting.optimizer)) {
    of(bytes, state) += 4 * elements;
  }
  if (setting.types.master_weights) of(bytes, Category::kMasterWeights) += 4 * elements;
  of(bytes, Category::kAccumulators) +=
      static_cast<std::int64_t>(size_of(setting.types.accumulators)) * setting.accumulators *
      elements;
}

void add_payload(CategoryBytes& bytes, const Setting& setting, std::int64_t largest) {
  if (setting.types.travelling == setting.types.gradients) return;
  of(bytes, Category::kGradientBuckets) +=
      static_cast<std::int64_t>(size_of(setting.types.travelling)) * largest;
}

std::string moment_name(const Setting& setting, const Use& use) {
  return fmt::format("{} {}", name_of(use.phase), setting.layout.unit(use.unit).name);
}

}  // namespace zerolab
