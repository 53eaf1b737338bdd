#include "stages/model/gpt_uses.h"

#include <algorithm>

namespace zerolab {

// Units are numbered in the order in which gradients complete.
UnitId gpt_block_unit(const GptConfig& config, std::int64_t layer) {
  return static_cast<UnitId>(config.layers - layer);
}
UnitId gpt_final_norm_unit() { return 0; }
UnitId gpt_embedding_unit(const GptConfig& config) {
  return static_cast<UnitId>(config.layers) + 1;
}

std::vector<GptSegment> gpt_segments(const GptConfig& config, const ModelOptions& options) {
  const std::int64_t length =
      options.checkpoint_every > 0 ? options.checkpoint_every : config.layers;
  std::vector<GptSegment> segments;
  for (std::int64_t begin = 0; begin < config.layers; begin += length) {
    segments.push_back({begin, std::min(begin + length, config.layers)});
  }
  return segments;
}

std::optional<std::int64_t> gpt_skipped_block(const GptConfig& config, const ModelOptions& options,
                                              int index) {
  const int every = options.skip_block_every;
  if (every == 0 || (index + 1) % every != 0) return std::nullopt;
  return ((index + 1) / every - 1) % config.layers;
}

namespace {

std::vector<Use> forward_uses(const GptConfig& config, std::optional<std::int64_t> skipped) {
  std::vector<Use> uses = {{.unit = gpt_embedding_unit(config)}};
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    if (layer != skipped) uses.push_back({.unit = gpt_block_unit(config, layer)});
  }
  uses.push_back({.unit = gpt_final_norm_unit()});
  uses.push_back({.unit = gpt_embedding_unit(config)});
  return uses;
}

}  // namespace

std::vector<Use> gpt_evaluation_uses(const GptConfig& config) {
  return forward_uses(config, std::nullopt);
}

std::vector<Use> gpt_training_uses(const GptConfig& config, const ModelOptions& options,
                                   std::optional<std::int64_t> skipped) {
  std::vector<Use> uses = forward_uses(config, skipped);
  uses.push_back({gpt_embedding_unit(config), Phase::kBackward, true, false});
  uses.push_back({gpt_final_norm_unit(), Phase::kBackward, true, true});
  const std::vector<GptSegment> segments = gpt_segments(config, options);
  for (std::size_t s = segments.size(); s-- > 0;) {
    const auto [begin, end] = segments[s];
    for (std::int64_t layer = begin; options.checkpoint_every > 0 && layer < end; ++layer) {
      if (layer != skipped) uses.push_back({gpt_block_unit(config, layer), Phase::kRecompute});
    }
    for (std::int64_t layer = end; layer-- > begin;) {
      if (layer == skipped) continue;
      uses.push_back({gpt_block_unit(config, layer), Phase::kBackward, true, true});
    }
  }
  uses.push_back({gpt_embedding_unit(config), Phase::kBackward, false, true});
  return uses;
}

}  // namespace zerolab
