#include "stages/model/trained_uses.h"

namespace zerolab {

std::vector<Use> trained_uses(std::vector<Use> uses, const ParameterLayout& layout) {
  const auto trains = [&](const Use& use) { return layout.unit(use.unit).size > 0; };
  while (!uses.empty() && uses.back().phase != Phase::kForward &&
         (uses.back().phase == Phase::kRecompute || !trains(uses.back()))) {
    uses.pop_back();
  }
  for (Use& use : uses) use.completes_gradient = use.completes_gradient && trains(use);
  return uses;
}

}  // namespace zerolab
