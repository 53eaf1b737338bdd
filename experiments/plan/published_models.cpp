#include "experiments/plan/activations.h"
#include "experiments/plan/arithmetic.h"
#include "experiments/plan/published_families.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr double kTiB = 1099511627776.0, kGiB = 1 << 30;
constexpr double kInfinitySequence = 1024, kInfinityBatch = 32;  // of a node

Recompute recompute_of(const FormulaArguments& a) {
  for (int i = 0; i < kRecomputeCount; ++i) {
    if (name_of(static_cast<Recompute>(i)) == a.text("recompute")) return static_cast<Recompute>(i);
  }
  bad_input("[published] there is no recomputation '{}'", a.text("recompute"));
}

double l(const FormulaArguments& a) { return a.number("l"); }
double h(const FormulaArguments& a) { return a.number("h"); }

/// Parameters of the blocks, without biases, norms and embedding.
double blocks(const FormulaArguments& a) { return 12 * l(a) * h(a) * h(a); }

/// h·b·s·L: one activation of the residual stream in every layer, elements.
double stream(const FormulaArguments& a) { return h(a) * a.number("b") * a.number("s") * l(a); }

double checkpoints_and_a_layer(const FormulaArguments& a) {
  const double layer = 12 * h(a) * a.number("b") * a.number("s");
  return 2 * (stream(a) + layer) / 1e9;
}

/// Over s·b·h with as/h = 8: the figures that the formulas' letters give.
double layer_activations(const FormulaArguments& a) {
  const ActivationShape shape{8, 1, 1, 1, 1, 0};
  const TensorParallel parallel{a.number("t"), a.number("sp") != 0};
  return layer_activation_bytes(shape, recompute_of(a), parallel) / 8;
}

/// Around the layers, with the tokens themselves in 8 bytes; s b = 1.
double outer_activations(const FormulaArguments& a) {
  const ActivationShape shape{1, 1, h(a), 1, 1, a.number("v")};
  return outer_activation_bytes(shape) + 8;
}

/// Over s·b·h·L/t: under 1F1B the first of p stages holds its L/p layers for p micro-batches.
double first_stage_activations(const FormulaArguments& a) {
  const double layers = a.number("l") / a.number("p"), in_flight = a.number("p");
  return layer_activations(a) * layers * in_flight * a.number("t") / a.number("l");
}

/// m chunks of layers a stage: by how much interleaving them raises the first stage's activations.
double interleaving(const FormulaArguments& a) {
  return 1 + (a.number("p") - 1) / (a.number("p") * a.number("m"));
}

/// Percent of A100's 312 TFLOP/s; GPT-3's sequences and vocabulary.
double utilisation(const FormulaArguments& a) {
  constexpr double kPeak = 312e12, kSequence = 2048, kVocabulary = 51200;
  const double flops =
      gpt_step_flops(a.number("b"), kSequence, l(a), h(a), kVocabulary, recompute_of(a));
  return 100 * flops / (a.number("gpus") * kPeak * a.number("seconds"));
}

double infinity_activations(const FormulaArguments& a) {
  const ActivationShape shape{kInfinitySequence, kInfinityBatch, h(a), a.number("a"), l(a), 0};
  // bsz · seq · (16 hd + 2 heads · seq) elements of two bytes a layer.
  return 2 * shape.layers * shape.b * shape.s * (16 * shape.h + 2 * shape.a * shape.s) / kTiB;
}

double infinity_awm(const FormulaArguments& a) {
  const double samples = 2, s = kInfinitySequence;
  return 2 * samples * s * (16 * h(a) + 2 * a.number("a") * s) / kGiB;
}

double infinity_checkpoints(const FormulaArguments& a) {
  return 2 * kInfinityBatch * kInfinitySequence * h(a) * l(a) / kTiB;
}

double efficiency(const FormulaArguments& a) {
  constexpr double kAchievable = 70e12;
  const double fed = a.number("ait") * a.number("bandwidth_gb") * 1e9;
  return 100 * fed / (fed + kAchievable);
}

}  // namespace

FormulaFamily model_formulas() {
  return {
      {"blocks_12lh2", [](const Args& a) { return blocks(a) / 1e9; }},
      {"activations_12hbsl",
       [](const Args& a) { return a.number("bytes") * 12 * stream(a) / 1e9; }},
      {"checkpoints_2hbsl", [](const Args& a) { return 2 * stream(a) / 1e9; }},
      {"checkpoints_and_a_layer", checkpoints_and_a_layer},
      {"layer_activations", layer_activations},
      {"outer_activations", outer_activations},
      {"first_stage_activations", first_stage_activations},
      {"interleaving", interleaving},
      {"utilisation", utilisation},
      {"gain", [](const Args& a) { return 100 * (a.number("full") / a.number("present") - 1); }},
      {"infinity_params", [](const Args& a) { return blocks(a) / 1e12; }},
      {"infinity_states", [](const Args& a) { return 20 * blocks(a) / kTiB; }},
      {"infinity_activations", infinity_activations},
      {"infinity_checkpoints", infinity_checkpoints},
      {"infinity_mswm", [](const Args& a) { return 4 * h(a) * 4 * h(a) / kGiB; }},
      {"infinity_awm", infinity_awm},
      {"efficiency", efficiency},
      {"seconds_8nd",
       [](const Args& a) {
         return 8 * a.number("psi") * a.number("tokens") / (a.number("tflops") * 1e12);
       }},
      {"percent", [](const Args& a) { return 100 * a.number("a") / a.number("b"); }},
      {"product", [](const Args& a) { return a.number("a") * a.number("b"); }},
      {"quotient", [](const Args& a) { return a.number("a") / a.number("b"); }},
  };
}

}  // namespace zerolab
