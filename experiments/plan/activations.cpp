#include "experiments/plan/activations.h"

#include <algorithm>
#include <cmath>

namespace zerolab {

ActivationShape activation_shape(const Recipe& recipe, const PlannedModel& model) {
  const GptConfig& gpt = model.spec.gpt();
  return {static_cast<double>(planned_sequence(recipe, model)),
          static_cast<double>(recipe.run.micro_batch),
          static_cast<double>(gpt.channels),
          static_cast<double>(gpt.heads),
          static_cast<double>(gpt.layers),
          static_cast<double>(gpt.vocabulary)};
}

double layer_activation_bytes(const ActivationShape& shape, Recompute recompute,
                              const TensorParallel& parallel) {
  const double sbh = shape.s * shape.b * shape.h;
  if (recompute == Recompute::kFull) return 2 * sbh;
  const double t = parallel.degree;
  const double whole = parallel.sequence ? 10 / t : 10;
  const double attention =
      recompute == Recompute::kSelective ? 0 : 5 * shape.a * shape.s / (shape.h * t);
  return sbh * (whole + 24 / t + attention);
}

double outer_activation_bytes(const ActivationShape& shape) {
  const double sb = shape.s * shape.b;
  return sb * shape.h + 4 * sb * (shape.h + shape.vocabulary);
}

std::int64_t planned_activation_bytes(const Recipe& recipe, const ActivationShape& shape) {
  const bool full = recipe.recompute == Recompute::kFull;
  const double every = std::min<double>(shape.layers, full ? 1 : recipe.run.checkpoint_every);
  double bytes = shape.layers * layer_activation_bytes(shape, recipe.recompute);
  if (every > 0) {
    bytes = std::ceil(shape.layers / every) * layer_activation_bytes(shape, Recompute::kFull) +
            every * layer_activation_bytes(shape, Recompute::kNone);
  }
  const double dtype_factor = recipe.run.precision == "fp32" ? 2 : 1;
  return std::llround(bytes * dtype_factor + outer_activation_bytes(shape));
}

}  // namespace zerolab
