/// \file
/// Closed forms of the bytes that a model holds besides its states. Written from the architecture,
/// not from the allocations; tests hold the two against each other to the byte.
#pragma once

#include <algorithm>
#include <cstdint>

#include "stages/core/view.h"
#include "stages/model/gpt_config.h"

namespace zerolab {

/// Bytes of activations that a GPT keeps for backward, with B·T tokens a micro-batch and elements
/// of `size` bytes:
///   size · B T ( 16 L C + 2 C + V ) + 4 [ B T ( 4 L + 2 ) + L S ]
/// A block keeps the outputs of both norms (2 C), qkv (3 C), attention (C), the residual stream
/// after attention and after the MLP (2 C), the MLP's inner layer before and after GELU (8 C), and,
/// in fp32, mean and rstd of two norms (4). Outside the blocks: the embedding (C), the final norm
/// (C, fp32 2) and the logits (V). S is `Kernels::attention_saved_count`, fp32, the only term that
/// depends on the back end.
///
/// With checkpoints every K < L blocks, ⌈L/K⌉ segments keep the residual stream behind them (C) and
/// share K sets of blocks, whose last needs no residual stream of its own:
///   size · B T ( K 16 C − C + ⌈L/K⌉ C + 2 C + V ) + 4 [ B T ( 4 K + 2 ) + K S ]
constexpr std::int64_t gpt_activation_bytes(const GptConfig& config, std::int64_t batch,
                                            std::int64_t time, std::int64_t attention_saved,
                                            std::int64_t size, std::int64_t checkpoint_every = 0) {
  const std::int64_t L = config.layers, C = config.channels, V = config.vocabulary;
  const std::int64_t K = checkpoint_every > 0 && checkpoint_every < L ? checkpoint_every : L;
  const std::int64_t segments = (L + K - 1) / K;
  return size * batch * time * (16 * K * C + (segments - 1) * C + 2 * C + V) +
         4 * (batch * time * (4 * K + 2) + K * attention_saved);
}

/// Bytes of scratch that all blocks share in backward: the gradients of the residual stream (C), of
/// one narrow (C) and one wide (4 C) activation, and the fp64 loss: size · 6 B T C + 8.
constexpr std::int64_t gpt_workspace_bytes(const GptConfig& config, std::int64_t batch,
                                           std::int64_t time, std::int64_t size) {
  return size * (6 * batch * time * config.channels) + 8;
}

/// fp32 elements in which the largest operation of a 16-bit GPT is computed: that of the MLP's
/// first layer with GELU (input, weight, bias, two outputs), of the head (input, weight, logits) or
/// of the embedding (both tables, output). Each operand starts on a multiple of 16 elements.
constexpr std::int64_t gpt_widening_elements(const GptConfig& config, std::int64_t batch,
                                             std::int64_t time) {
  const std::int64_t n = batch * time, C = config.channels, V = config.vocabulary;
  const auto padded = [](std::int64_t count) { return round_up(count, 16); };
  const std::int64_t mlp =
      padded(n * C) + padded(4 * C * C) + padded(4 * C) + 2 * padded(4 * n * C);
  const std::int64_t head = padded(n * C) + padded(V * C) + padded(n * V);
  const std::int64_t embedding = padded(V * C) + padded(config.max_time * C) + padded(n * C);
  return std::max({mlp, head, embedding});
}

/// Bytes of activations of a tied MLP: the outputs of its layers, `layers` · B · width. The last of
/// them is the prediction.
constexpr std::int64_t tied_mlp_activation_bytes(std::int64_t layers, std::int64_t batch,
                                                 std::int64_t width, std::int64_t size) {
  return size * layers * batch * width;
}

/// Two gradients of one layer's output, used in turn, and the fp64 loss.
constexpr std::int64_t tied_mlp_workspace_bytes(std::int64_t batch, std::int64_t width,
                                                std::int64_t size) {
  return size * (2 * batch * width) + 8;
}

/// The same as gpt_widening_elements for a layer: input, weight, bias, output.
constexpr std::int64_t tied_mlp_widening_elements(std::int64_t batch, std::int64_t width) {
  const auto padded = [](std::int64_t count) { return round_up(count, 16); };
  return 2 * padded(batch * width) + padded(width * width) + padded(width);
}

}  // namespace zerolab
