#include "experiments/predict/model_uses.h"

namespace zerolab {
namespace {

/// Backward visits the units of forward in opposite order. The unit that is applied first and last
/// (the tie) completes its gradient at its first application; what lies below it is data, whose
/// gradient nobody needs, so its backward there reads no parameters.
ModelUses there_and_back(const std::vector<UnitId>& forward) {
  ModelUses uses;
  for (const UnitId unit : forward) uses.evaluation.push_back({.unit = unit});
  uses.training = uses.evaluation;
  for (std::size_t i = forward.size(); i-- > 0;) {
    const bool first_application = i == 0;
    const bool tied_last = i + 1 == forward.size() && forward[i] == forward[0];
    uses.training.push_back({.unit = forward[i],
                             .phase = Phase::kBackward,
                             .reads_parameters = !first_application,
                             .completes_gradient = !tied_last});
  }
  return uses;
}

}  // namespace

ModelUses uses_of(const ModelSpec& model) {
  // Units are numbered in the order in which gradients complete: the last applied is unit 0.
  std::vector<UnitId> forward;
  if (model.is_gpt()) {
    // Embedding, blocks, final norm, and the tied head, which is the embedding again.
    const auto embedding = static_cast<UnitId>(model.gpt().layers) + 1;
    for (UnitId unit = embedding; unit >= 0; --unit) forward.push_back(unit);
    forward.push_back(embedding);
  } else {
    // Nine distinct layers, then the first again.
    const auto first = static_cast<UnitId>(kTiedMlpLayers) - 2;
    for (UnitId unit = first; unit >= 0; --unit) forward.push_back(unit);
    forward.push_back(first);
  }
  return there_and_back(forward);
}

}  // namespace zerolab
