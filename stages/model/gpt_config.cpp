#include "stages/model/gpt_config.h"

#include <cmath>

#include "stages/core/error.h"

namespace zerolab {

namespace {

// Far above any model, low enough that no product of extents overflows 64 bits.
constexpr std::int64_t kLargestExtent = 1 << 20;

void check_extent(const char* what, std::int64_t value) {
  if (value < 1 || value > kLargestExtent) {
    bad_input("[model] {} is {}; it must lie between 1 and {}", what, value, kLargestExtent);
  }
}

TensorSpec matrix(std::string name, std::int64_t in, std::int64_t out, float deviation) {
  return {std::move(name), {in, out}, Init::kNormal, deviation, true};
}

TensorSpec hidden_matrix(std::string name, std::int64_t in, std::int64_t out, float deviation) {
  TensorSpec tensor = matrix(std::move(name), in, out, deviation);
  tensor.hidden = true;
  return tensor;
}

TensorSpec bias(std::string name, std::int64_t count) {
  return {std::move(name), {count}, Init::kZeros, 0, false};
}

TensorSpec norm_weight(std::string name, std::int64_t count) {
  return {std::move(name), {count}, Init::kOnes, 0, false};
}

std::vector<TensorSpec> block_tensors(const GptConfig& config, std::int64_t layer) {
  const std::int64_t C = config.channels;
  const float deviation = config.initializer_range;
  // Each block adds to the residual stream twice; this keeps its variance independent of L.
  const float residual_deviation = deviation / std::sqrt(2.0F * static_cast<float>(config.layers));
  const std::string h = fmt::format("h.{}.", layer);
  return {
      norm_weight(h + "ln_1.weight", C),
      bias(h + "ln_1.bias", C),
      hidden_matrix(h + "attn.c_attn.weight", C, 3 * C, deviation),
      bias(h + "attn.c_attn.bias", 3 * C),
      hidden_matrix(h + "attn.c_proj.weight", C, C, residual_deviation),
      bias(h + "attn.c_proj.bias", C),
      norm_weight(h + "ln_2.weight", C),
      bias(h + "ln_2.bias", C),
      hidden_matrix(h + "mlp.c_fc.weight", C, 4 * C, deviation),
      bias(h + "mlp.c_fc.bias", 4 * C),
      hidden_matrix(h + "mlp.c_proj.weight", 4 * C, C, residual_deviation),
      bias(h + "mlp.c_proj.bias", C),
  };
}

}  // namespace

void validate(const GptConfig& config) {
  check_extent("the number of layers", config.layers);
  check_extent("the number of channels", config.channels);
  check_extent("the number of heads", config.heads);
  check_extent("the longest sequence", config.max_time);
  check_extent("the vocabulary", config.vocabulary);
  if (config.channels % config.heads != 0) {
    bad_input("[model] {} heads do not divide {} channels; choose a divisor", config.heads,
              config.channels);
  }
  if (!(config.initializer_range > 0) || !std::isfinite(config.initializer_range)) {
    bad_input("[model] the initial weights' deviation is {}; it must be positive",
              config.initializer_range);
  }
}

const std::vector<GptPreset>& gpt_presets() {
  static const std::vector<GptPreset> presets = {
      {"gpt-micro", {2, 32, 2, 16, 256}},
      {"gpt-tiny", {4, 128, 4, 128, 256}},
      {"gpt-small", {6, 384, 6, 256, 256}},
      {"gpt2-124m", {12, 768, 12, 1024, 50257}},
  };
  return presets;
}

ParameterLayout gpt_layout(const GptConfig& config) {
  validate(config);
  const std::int64_t C = config.channels;
  ParameterLayout layout;
  layout.add_unit("ln_f", {norm_weight("ln_f.weight", C), bias("ln_f.bias", C)});
  for (std::int64_t layer = config.layers - 1; layer >= 0; --layer) {
    layout.add_unit(fmt::format("h.{}", layer), block_tensors(config, layer));
  }
  layout.add_unit("embedding",
                  {matrix("wte.weight", config.vocabulary, C, config.initializer_range),
                   matrix("wpe.weight", config.max_time, C, config.initializer_range)});
  return layout;
}

}  // namespace zerolab
