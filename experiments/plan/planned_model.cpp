#include "experiments/plan/planned_model.h"

#include <algorithm>
#include <cmath>

#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr std::int64_t kVocabulary = 50257;  // of GPT-2
constexpr std::int64_t kPositions = 1024;    // of GPT-2
constexpr std::int64_t kHeadSize = 128;
constexpr std::int64_t kAspect = 128;  // hidden over layers
constexpr std::int64_t kMostLayers = 20'000;

std::int64_t or_else(std::int64_t given, std::int64_t otherwise) {
  return given > 0 ? given : otherwise;
}

void require_positive(const char* option, std::int64_t value, std::int64_t most) {
  if (value >= 0 && value <= most) return;
  bad_input("[plan] {} is {}; give a whole number from 1 to {}, or leave the option out", option,
            value, most);
}

void check(const ModelRequest& request) {
  require_positive("--layers", request.layers, kMostLayers);
  require_positive("--hidden", request.hidden, 1 << 20);
  require_positive("--heads", request.heads, 1 << 20);
  require_positive("--vocabulary", request.vocabulary, 1 << 20);
  require_positive("--positions", request.positions, 1 << 20);
  const bool named = !request.model.empty();
  const bool sized = request.parameters != 0;
  const bool shaped = request.layers > 0 || request.hidden > 0;
  if (named && (sized || shaped || request.heads > 0 || request.vocabulary > 0)) {
    bad_input(
        "[plan] --model {} and extents of a model were given; keep --model, or describe the model "
        "by --parameters or by --layers and --hidden",
        request.model);
  }
  if (!named && !sized && !(request.layers > 0 && request.hidden > 0)) {
    bad_input(
        "[plan] no model was given; name one with --model, give --parameters 7.5e9, or both "
        "--layers and --hidden");
  }
}

std::int64_t heads_of(std::int64_t hidden) {
  std::int64_t heads = std::max<std::int64_t>(1, hidden / kHeadSize);
  while (hidden % heads != 0) --heads;
  return heads;
}

PlannedModel of_spec(ModelSpec spec) {
  PlannedModel model;
  model.name = spec.name;
  model.layout = layout_of(spec);
  model.spec = std::move(spec);
  model.runnable = true;
  return model;
}

PlannedModel of_extents(const ModelRequest& request) {
  GptConfig gpt;
  gpt.layers = request.layers;
  gpt.channels = request.hidden;
  gpt.heads = or_else(request.heads, heads_of(request.hidden));
  gpt.max_time = or_else(request.positions, kPositions);
  gpt.vocabulary = or_else(request.vocabulary, kVocabulary);
  return of_spec({fmt::format("gpt-{}x{}", gpt.layers, gpt.channels), gpt, {}});
}

/// Extents of a GPT with about so many parameters.
GptConfig proportions(double parameters, const ModelRequest& request) {
  GptConfig gpt;
  gpt.max_time = or_else(request.positions, kPositions);
  gpt.layers = request.layers;
  gpt.channels = request.hidden;
  if (gpt.layers == 0 && gpt.channels == 0) {
    const double layers = std::cbrt(parameters / (12.0 * kAspect * kAspect));
    gpt.layers = std::max<std::int64_t>(1, std::llround(layers));
  }
  if (gpt.layers == 0) {
    const auto hidden = static_cast<double>(gpt.channels);
    gpt.layers = std::llround(parameters / (12 * hidden * hidden));
  }
  gpt.layers = std::clamp<std::int64_t>(gpt.layers, 1, kMostLayers);
  if (gpt.channels == 0) {
    const double hidden = std::sqrt(parameters / (12.0 * static_cast<double>(gpt.layers)));
    const std::int64_t grain = hidden >= 4 * kHeadSize ? kHeadSize : 1;
    gpt.channels = std::clamp<std::int64_t>(
        grain * std::llround(hidden / static_cast<double>(grain)), 1, 1 << 20);
  }
  gpt.heads = or_else(request.heads, heads_of(gpt.channels));
  gpt.vocabulary = or_else(request.vocabulary, kVocabulary);
  return gpt;
}

TensorSpec flat(std::string name, std::int64_t count) {
  return {std::move(name), {count}, Init::kNormal, 0.02F, true};
}

/// Units of exactly Ψ elements together. The embedding may not swallow a small model.
ParameterLayout exact_layout(std::int64_t parameters, GptConfig& gpt) {
  const std::int64_t norm = std::min(2 * gpt.channels, parameters / 8);
  std::int64_t embedding = (gpt.vocabulary + gpt.max_time) * gpt.channels;
  if (embedding > parameters / 2) {
    embedding = parameters / 2;
    gpt.vocabulary = std::max<std::int64_t>(1, embedding / gpt.channels - gpt.max_time);
  }
  const std::int64_t blocks = parameters - norm - embedding;
  ParameterLayout layout;
  layout.add_unit("ln_f", {flat("ln_f.weight", norm)});
  for (std::int64_t layer = gpt.layers - 1; layer >= 0; --layer) {
    // The last elements of a division with remainder go to the first blocks.
    const std::int64_t size = blocks * (layer + 1) / gpt.layers - blocks * layer / gpt.layers;
    layout.add_unit(fmt::format("h.{}", layer), {flat(fmt::format("h.{}.weight", layer), size)});
  }
  layout.add_unit("embedding", {flat("wte.weight", embedding)});
  return layout;
}

}  // namespace

std::int64_t PlannedModel::largest_unit() const {
  std::int64_t largest = 0;
  for (const UnitLayout& unit : layout.units()) largest = std::max(largest, unit.size);
  return largest;
}

PlannedModel model_of_parameters(std::int64_t parameters, const ModelRequest& request) {
  if (parameters < kFewestParameters || parameters > kMostParameters) {
    bad_input("[plan] {} parameters were asked for; give between {} and {:g}", parameters,
              kFewestParameters, static_cast<double>(kMostParameters));
  }
  GptConfig gpt = proportions(static_cast<double>(parameters), request);
  PlannedModel model;
  model.name = fmt::format("{:.4g} parameters", static_cast<double>(parameters));
  model.layout = exact_layout(parameters, gpt);
  model.spec = {model.name, gpt, {}};
  if (request.layers == 0 || request.hidden == 0) {
    model.assumed = fmt::format(
        "{} layers of hidden size {}, {} heads and a vocabulary of {} were assumed; --layers and "
        "--hidden change that, and only activations, arithmetic and gathered units depend on it",
        gpt.layers, gpt.channels, gpt.heads, gpt.vocabulary);
  }
  return model;
}

PlannedModel planned_model(const ModelRequest& request) {
  check(request);
  if (!request.model.empty()) return of_spec(parse_model(request.model));
  if (request.parameters == 0) return of_extents(request);
  if (!(request.parameters >= static_cast<double>(kFewestParameters) &&
        request.parameters <= static_cast<double>(kMostParameters))) {
    bad_input("[plan] --parameters is {}; give between {} and {:g}", request.parameters,
              kFewestParameters, static_cast<double>(kMostParameters));
  }
  return model_of_parameters(std::llround(request.parameters), request);
}

}  // namespace zerolab
