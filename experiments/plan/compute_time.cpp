#include "experiments/plan/compute_time.h"

#include "experiments/plan/activations.h"
#include "experiments/plan/arithmetic.h"
#include "experiments/predict/optimizer_prediction.h"

namespace zerolab {
namespace {

/// Times that an activation is moved to or from memory.
constexpr double kForwardMoves = 2, kBackwardMoves = 3;
/// The same of weights and their gradients.
constexpr double kForwardWeightMoves = 1, kBackwardWeightMoves = 4;

double bytes_of(DType dtype) { return static_cast<double>(size_of(dtype)); }

/// Bytes of one block's activations, without the head's.
double block_bytes(const Recipe& recipe, const PlannedModel& model) {
  if (!model.spec.is_gpt()) {
    return 4.0 * static_cast<double>(recipe.run.micro_batch * model.spec.tied_mlp().width);
  }
  const ActivationShape shape = activation_shape(recipe, model);
  if (recipe.run.precision == "fp32") return 4 * shape.s * shape.b * (16 * shape.h + 4);
  // Attention's square stays in the fast memory of the device with today's fused kernels.
  return layer_activation_bytes(shape, Recompute::kSelective);
}

double head_bytes(const Recipe& recipe, const PlannedModel& model) {
  if (!model.spec.is_gpt()) return block_bytes(recipe, model);
  const ActivationShape shape = activation_shape(recipe, model);
  return 4 * shape.s * shape.b * shape.vocabulary;
}

/// What backward computes once more, over a forward pass of the block.
double recomputed(const Recipe& recipe, const ForwardFlops& flops, std::size_t unit) {
  switch (recipe.recompute) {
    case Recompute::kNone:
      return 0;
    case Recompute::kSelective:
      return flops.by_unit[unit] > 0 ? flops.attention : 0;
    case Recompute::kFull:
      return flops.by_unit[unit];
  }
  return 0;
}

}  // namespace

ComputeTimes compute_times(const Recipe& recipe, const PlannedModel& model,
                           const DeviceSpec& device) {
  const ForwardFlops flops = forward_flops(recipe, model);
  const StateTypes dtypes = state_types(recipe.run);
  const double activations = block_bytes(recipe, model);
  const double logits = head_bytes(recipe, model);
  const auto seconds = [&](double operations, double bytes) {
    return operations / device.product_flops + bytes / device.memory_bandwidth;
  };
  ComputeTimes times;
  for (std::size_t i = 0; i < flops.by_unit.size(); ++i) {
    const auto size = static_cast<double>(model.layout.units()[i].size);
    const bool block = flops.by_unit[i] > 0;
    const double held = block ? activations : 0;
    const double again = recomputed(recipe, flops, i);
    const double moved_again = recipe.recompute == Recompute::kFull ? kForwardMoves * held : 0;
    // The embedding's rows are looked up, not multiplied: its weights are read by the head.
    const double weights = block ? size * bytes_of(dtypes.parameters) : 0;
    times.forward.push_back(
        seconds(flops.by_unit[i], kForwardMoves * held + kForwardWeightMoves * weights));
    times.backward.push_back(
        seconds(2 * flops.by_unit[i] + again,
                kBackwardMoves * held + moved_again + kBackwardWeightMoves * weights));
  }
  const double table =
      static_cast<double>(model.layout.units().back().size) * bytes_of(dtypes.parameters);
  times.head_forward = seconds(flops.head, kForwardMoves * logits + kForwardWeightMoves * table);
  times.head_backward =
      seconds(2 * flops.head, kBackwardMoves * logits + kBackwardWeightMoves * table);
  return times;
}

double update_seconds(const std::string& stage, const Recipe& recipe, const Setting& setting,
                      const DeviceSpec& device, double elements) {
  const StateTypes dtypes = state_types(recipe.run);
  const auto states = static_cast<double>(optimizer_state_categories(recipe.run.optimizer).size());
  // Master weights where there are some are updated in place of the parameters, and rounded.
  const double parameters = dtypes.master_weights ? 2 * 4 + bytes_of(dtypes.parameters) : 2 * 4;
  const double gradient = 2 * bytes_of(dtypes.gradients);
  const double direction = recipe.run.optimizer.name == "lamb" ? 3 * 4 : 0;
  Setting busiest = setting;
  busiest.rank = 0;  // computers take turns by falling cost
  const double operations = optimizer_operations(stage, busiest);
  return (operations > 0 ? operations / device.product_flops : 0) +
         elements * (parameters + gradient + direction + states * 2 * 4) / device.memory_bandwidth;
}

}  // namespace zerolab
