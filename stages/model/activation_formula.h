/// \file
/// Closed forms of the bytes that a model holds besides its states. Written from the architecture,
/// not from the allocations; tests hold the two against each other to the byte.
#pragma once

#include <cstdint>

#include "stages/model/gpt_config.h"

namespace zerolab {

/// Bytes of fp32 activations that a GPT keeps for backward, with B·T tokens a micro-batch:
///   4 [ B T ( L (16 C + 4) + 2 C + 2 + V ) + L S ]
/// A block keeps the outputs of both norms (2 C), qkv (3 C), attention (C), the residual stream
/// after attention and after the MLP (2 C), the MLP's inner layer before and after GELU (8 C), and
/// mean and rstd of two norms (4). Outside the blocks: the embedding (C), the final norm (C + 2)
/// and the logits (V). S is `Kernels::attention_saved_count`, the only term that depends on the
/// back end.
///
/// With checkpoints every K < L blocks, ⌈L/K⌉ segments keep the residual stream behind them (C) and
/// share K sets of blocks, whose last needs no residual stream of its own:
///   4 [ B T ( K (16 C + 4) − C + ⌈L/K⌉ C + 2 C + 2 + V ) + K S ]
constexpr std::int64_t gpt_activation_bytes(const GptConfig& config, std::int64_t batch,
                                            std::int64_t time, std::int64_t attention_saved,
                                            std::int64_t checkpoint_every = 0) {
  const std::int64_t L = config.layers, C = config.channels, V = config.vocabulary;
  const std::int64_t K = checkpoint_every > 0 && checkpoint_every < L ? checkpoint_every : L;
  const std::int64_t segments = (L + K - 1) / K;
  return 4 * (batch * time * (K * (16 * C + 4) + (segments - 1) * C + 2 * C + 2 + V) +
              K * attention_saved);
}

/// Bytes of scratch that all blocks share in backward: the gradients of the residual stream (C), of
/// one narrow (C) and one wide (4 C) activation, and the fp64 loss: 4 · 6 B T C + 8.
constexpr std::int64_t gpt_workspace_bytes(const GptConfig& config, std::int64_t batch,
                                           std::int64_t time) {
  return 4 * (6 * batch * time * config.channels) + 8;
}

/// Bytes of fp32 activations of a tied MLP: the outputs of its layers, `layers` · B · width. The
/// last of them is the prediction.
constexpr std::int64_t tied_mlp_activation_bytes(std::int64_t layers, std::int64_t batch,
                                                 std::int64_t width) {
  return 4 * layers * batch * width;
}

/// Two gradients of one layer's output, used in turn, and the fp64 loss.
constexpr std::int64_t tied_mlp_workspace_bytes(std::int64_t batch, std::int64_t width) {
  return 4 * (2 * batch * width) + 8;
}

}  // namespace zerolab
