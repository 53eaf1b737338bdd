#include "experiments/predict/model_uses.h"

#include <algorithm>
#include <iterator>

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

/// Inserts the second forward pass of blocks [begin, end) before the backward pass of the last.
void recompute(std::vector<Use>& uses, const ModelSpec& model, std::int64_t begin,
               std::int64_t end) {
  const UnitId last = unit_of_block(model, end - 1);
  const auto backward = std::ranges::find_if(
      uses, [&](const Use& use) { return use.unit == last && use.phase == Phase::kBackward; });
  std::vector<Use> again;
  for (std::int64_t block = begin; block < end; ++block) {
    again.push_back({.unit = unit_of_block(model, block), .phase = Phase::kRecompute});
  }
  uses.insert(backward, again.begin(), again.end());
}

}  // namespace

// Units are numbered in the order in which gradients complete: the final norm is unit 0.
UnitId unit_of_block(const ModelSpec& model, std::int64_t block) {
  return static_cast<UnitId>(model.gpt().layers - block);
}

std::vector<Use> without(const std::vector<Use>& uses, UnitId unit) {
  std::vector<Use> rest;
  std::ranges::copy_if(uses, std::back_inserter(rest),
                       [&](const Use& use) { return use.unit != unit; });
  return rest;
}

std::vector<Use> trained_part(std::vector<Use> uses, const ParameterLayout& layout) {
  // Forward is whole; of the rest, up to the last backward visit of a unit that trains.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const bool trains = layout.unit(uses[i].unit).size > 0;
    if (!trains) uses[i].completes_gradient = false;
    if (uses[i].phase == Phase::kForward || (uses[i].phase == Phase::kBackward && trains)) {
      kept = i + 1;
    }
  }
  uses.resize(kept);
  return uses;
}

ModelUses uses_of(const ModelSpec& model, std::int64_t checkpoint_every) {
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
  ModelUses uses = there_and_back(forward);
  if (checkpoint_every > 0) {
    for (std::int64_t begin = 0; begin < model.gpt().layers; begin += checkpoint_every) {
      recompute(uses.training, model, begin,
                std::min(begin + checkpoint_every, model.gpt().layers));
    }
  }
  return uses;
}

}  // namespace zerolab
