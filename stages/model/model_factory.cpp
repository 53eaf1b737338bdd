#include "stages/model/model_factory.h"

#include "stages/core/error.h"
#include "stages/core/join.h"
#include "stages/core/nearest.h"
#include "stages/model/activation_formula.h"
#include "stages/model/gpt.h"
#include "stages/model/hugging_face_config.h"

namespace zerolab {

namespace {
constexpr const char* kTiedMlpName = "tied-mlp";
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const GptPreset& preset : gpt_presets()) names.push_back(preset.name);
  names.emplace_back(kTiedMlpName);
  return names;
}

ModelSpec parse_model(const std::string& name_or_json_path) {
  const std::string& name = name_or_json_path;
  for (const GptPreset& preset : gpt_presets()) {
    if (preset.name == name) return {name, preset.config, {}, {}};
  }
  if (name == kTiedMlpName) return {name, TiedMlpConfig{}, {}, {}};
  if (name.ends_with(".json")) {
    HuggingFaceConfig file = read_hugging_face_config(name);
    return {name, file.config, {}, {}, std::move(file.dropouts)};
  }
  bad_input("[model] there is no model '{}'; did you mean '{}'? (known: {}, or a config.json)",
            name, nearest(name, model_names()), joined(model_names()));
}

double dropout_of_file(const ModelSpec& spec) {
  if (spec.dropouts.empty()) return 0;
  for (const double dropout : spec.dropouts) {
    if (dropout == spec.dropouts.front()) continue;
    bad_input(
        "[model] {} asks for dropouts of {} (embedding), {} (attention) and {} (residual), where "
        "one probability applies to all; choose it with --dropout",
        spec.name, spec.dropouts[0], spec.dropouts[1], spec.dropouts[2]);
  }
  return spec.dropouts.front();
}

ParameterLayout layout_of(const ModelSpec& spec) {
  ParameterLayout layout =
      spec.is_gpt() ? gpt_layout(spec.gpt()) : tied_mlp_layout(spec.tied_mlp());
  for (const int tensor : spec.frozen) layout.freeze(tensor);
  return layout;
}

std::unique_ptr<Model> make_model(const ModelSpec& spec, Device& device, Stream& compute,
                                  Kernels& kernels, std::int64_t batch, std::int64_t time,
                                  const ModelOptions& options) {
  if (spec.is_gpt()) {
    return std::make_unique<Gpt>(spec.gpt(), layout_of(spec), options, device, compute, kernels,
                                 batch, time, spec.dtype);
  }
  if (options.dropout != 0 || options.checkpoint_every != 0 || options.skip_block_every != 0) {
    bad_input(
        "[model] {} has no blocks: dropout, activation checkpoints and skipped blocks are a GPT's; "
        "leave them out",
        spec.name);
  }
  return std::make_unique<TiedMlp>(spec.tied_mlp(), layout_of(spec), device, compute, kernels,
                                   batch, spec.dtype);
}

std::int64_t widening_elements(const ModelSpec& spec, std::int64_t batch, std::int64_t time) {
  if (spec.dtype == DType::kFloat32) return 0;
  return spec.is_gpt() ? gpt_widening_elements(spec.gpt(), batch, time)
                       : tied_mlp_widening_elements(batch, spec.tied_mlp().width);
}

ModelBytes model_bytes(const ModelSpec& spec, const Kernels& kernels, std::int64_t batch,
                       std::int64_t time, const ModelOptions& options) {
  const auto size = static_cast<std::int64_t>(size_of(spec.dtype));
  if (!spec.is_gpt()) {
    const std::int64_t width = spec.tied_mlp().width;
    return {tied_mlp_activation_bytes(kTiedMlpLayers, batch, width, size),
            tied_mlp_workspace_bytes(batch, width, size)};
  }
  const GptConfig& config = spec.gpt();
  const std::int64_t saved =
      kernels.attention_saved_count({batch, time, config.heads, config.channels / config.heads});
  return {gpt_activation_bytes(config, batch, time, saved, size, options.checkpoint_every),
          gpt_workspace_bytes(config, batch, time, size)};
}

}  // namespace zerolab
