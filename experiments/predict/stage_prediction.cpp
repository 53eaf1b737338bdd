#include "experiments/predict/stage_prediction.h"

#include "experiments/predict/optimizer_prediction.h"

namespace zerolab {

void add_states(CategoryBytes& bytes, const Setting& setting, std::int64_t elements) {
  for (const Category state : optimizer_state_categories(setting.optimizer)) {
    of(bytes, state) += 4 * elements;
  }
  of(bytes, Category::kAccumulators) += 4 * setting.accumulators * elements;
}

std::string moment_name(const Setting& setting, const Use& use) {
  return fmt::format("{} {}", name_of(use.phase), setting.layout.unit(use.unit).name);
}

}  // namespace zerolab
