#include "experiments/plan/arithmetic.h"

#include <numeric>

namespace zerolab {
namespace {

/// A network of linear layers: a multiply-add for every weight and sample.
ForwardFlops of_layers(const Recipe& recipe, const PlannedModel& model) {
  ForwardFlops flops;
  for (const UnitLayout& unit : model.layout.units()) {
    flops.by_unit.push_back(2.0 * static_cast<double>(unit.size * recipe.run.micro_batch));
  }
  flops.head = flops.by_unit.back();
  return flops;
}

}  // namespace

double ForwardFlops::total() const {
  return std::accumulate(by_unit.begin(), by_unit.end(), 0.0) + head;
}

ForwardFlops forward_flops(const Recipe& recipe, const PlannedModel& model) {
  if (!model.spec.is_gpt()) return of_layers(recipe, model);
  const GptConfig& gpt = model.spec.gpt();
  const auto h = static_cast<double>(gpt.channels);
  const auto s = static_cast<double>(planned_sequence(recipe, model));
  const double rows = static_cast<double>(recipe.run.micro_batch) * s;
  ForwardFlops flops;
  flops.attention = 4 * rows * s * h;
  flops.head = 2 * rows * h * static_cast<double>(gpt.vocabulary);
  const std::size_t units = model.layout.units().size();
  for (std::size_t i = 0; i < units; ++i) {
    const bool block = i > 0 && i + 1 < units;
    // Where a size was given instead of an architecture, its blocks are as large as they say.
    const double products = model.runnable
                                ? 24 * rows * h * h
                                : 2 * rows * static_cast<double>(model.layout.units()[i].size);
    flops.by_unit.push_back(block ? products + flops.attention : 0);
  }
  return flops;
}

StepFlops step_flops(const Recipe& recipe, const PlannedModel& model) {
  const ForwardFlops forward = forward_flops(recipe, model);
  const double count = recipe.run.accumulate;
  StepFlops step;
  step.model = step.hardware = 3 * count * forward.total();
  if (recipe.recompute == Recompute::kFull || recipe.run.checkpoint_every > 0) {
    step.hardware += count * (forward.total() - forward.head);
  } else if (recipe.recompute == Recompute::kSelective && model.spec.is_gpt()) {
    step.hardware += count * forward.attention * static_cast<double>(model.spec.gpt().layers);
  }
  return step;
}

double gpt_step_flops(double B, double s, double l, double h, double V, Recompute recompute) {
  const double base = B * s * l * h * h;
  switch (recompute) {
    case Recompute::kNone:
      return 72 * base * (1 + s / (6 * h) + V / (12 * l * h));
    case Recompute::kSelective:
      return 72 * base * (1 + s / (3 * h) + V / (12 * l * h));
    case Recompute::kFull:
      return 96 * base * (1 + s / (6 * h) + V / (16 * l * h));
  }
  return 0;
}

std::int64_t tokens_of_rank(const Recipe& recipe, const PlannedModel& model) {
  return recipe.run.micro_batch * planned_sequence(recipe, model) * recipe.run.accumulate;
}

}  // namespace zerolab
