#include "stages/model/gpt_activations.h"

#include <fmt/format.h>

#include <string>

namespace zerolab {

namespace {

GptBlockActivations allocate_block(const std::string& block, std::int64_t tokens, std::int64_t C,
                                   std::int64_t attention_saved, const ActivationMemory& memory) {
  GptBlockActivations a;
  a.ln_1 = memory.keep(block + " ln_1", tokens * C);
  a.ln_1_mean = memory.keep_statistic(block + " ln_1 mean", tokens);
  a.ln_1_rstd = memory.keep_statistic(block + " ln_1 rstd", tokens);
  a.qkv = memory.keep(block + " qkv", tokens * 3 * C);
  a.attention_saved = memory.keep_statistic(block + " attention saved", attention_saved);
  a.attention = memory.keep(block + " attention", tokens * C);
  a.middle = memory.keep(block + " residual after attention", tokens * C);
  a.ln_2 = memory.keep(block + " ln_2", tokens * C);
  a.ln_2_mean = memory.keep_statistic(block + " ln_2 mean", tokens);
  a.ln_2_rstd = memory.keep_statistic(block + " ln_2 rstd", tokens);
  a.fc_before_gelu = memory.keep(block + " fc before gelu", tokens * 4 * C);
  a.fc = memory.keep(block + " fc", tokens * 4 * C);
  return a;
}

}  // namespace

GptActivations::GptActivations(const GptConfig& config, const ModelOptions& options,
                               std::int64_t batch, std::int64_t time,
                               const ActivationMemory& memory, const Kernels& kernels)
    : layers_(config.layers) {
  const std::int64_t tokens = batch * time, C = config.channels;
  const std::int64_t attention_saved =
      kernels.attention_saved_count({batch, time, config.heads, C / config.heads});
  const std::vector<GptSegment> segments = gpt_segments(config, options);
  segment_length_ = segments.front().end;

  embedding = memory.keep("embedding", tokens * C);
  for (std::int64_t i = 0; i < segment_length_; ++i) {
    // A set that segments share belongs to no block of its own.
    const std::string name =
        segments.size() == 1 ? fmt::format("h.{}", i) : fmt::format("block {} of a segment", i);
    blocks_.push_back(allocate_block(name, tokens, C, attention_saved, memory));
    if (i + 1 == segment_length_) break;
    inside_.push_back(memory.keep(name + " residual after mlp", tokens * C));
  }
  for (const GptSegment& segment : segments) {
    ends_.push_back(
        memory.keep(fmt::format("h.{} residual after mlp", segment.end - 1), tokens * C));
  }
  ln_f = memory.keep("ln_f", tokens * C);
  ln_f_mean = memory.keep_statistic("ln_f mean", tokens);
  ln_f_rstd = memory.keep_statistic("ln_f rstd", tokens);
  logits = memory.keep("logits", tokens * config.vocabulary);

  d_residual = memory.scratch("gradient of the residual stream", tokens * C);
  d_narrow = memory.scratch("gradient of a narrow activation", tokens * C);
  d_wide = memory.scratch("gradient of a wide activation", tokens * 4 * C);
  loss = memory.loss();
}

const GptBlockActivations& GptActivations::block(std::int64_t layer) const {
  return blocks_[static_cast<std::size_t>(layer % segment_length_)];
}

View GptActivations::residual(std::int64_t layer) const {
  if (layer == 0) return embedding.view();
  const std::int64_t before = layer - 1;
  if (layer == layers_ || layer % segment_length_ == 0) {
    return ends_[static_cast<std::size_t>(before / segment_length_)].view();
  }
  return inside_[static_cast<std::size_t>(before % segment_length_)].view();
}

}  // namespace zerolab
