/// \file
/// The size of a GPT-2, the presets, and the parameter layout that follows from it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stages/model/layout.h"

namespace zerolab {

/// What a GPT-2 of a given size is made of. Everything else is fixed by the architecture: pre-norm
/// blocks, tanh GELU, learned positions, a tied head, LayerNorm's epsilon 1e-5, a 4 C wide MLP.
struct GptConfig {
  std::int64_t layers = 0;          ///< L
  std::int64_t channels = 0;        ///< C
  std::int64_t heads = 0;           ///< NH; divides C
  std::int64_t max_time = 0;        ///< longest sequence
  std::int64_t vocabulary = 0;      ///< V
  float initializer_range = 0.02F;  ///< standard deviation of the initial weights

  bool operator==(const GptConfig&) const = default;
};

/// \throws BadInput when an extent is not positive, absurdly large, or the heads do not divide C.
void validate(const GptConfig& config);

/// gpt-micro, gpt-tiny, gpt-small, gpt2-124m.
struct GptPreset {
  std::string name;
  GptConfig config;
};
const std::vector<GptPreset>& gpt_presets();

/// Tensors of a block by their index in its unit.
enum GptBlockTensor : int {
  kLn1Weight,
  kLn1Bias,
  kAttentionWeight,  ///< c_attn (C, 3C)
  kAttentionBias,
  kAttentionProjectionWeight,  ///< attn.c_proj (C, C)
  kAttentionProjectionBias,
  kLn2Weight,
  kLn2Bias,
  kFcWeight,  ///< mlp.c_fc (C, 4C)
  kFcBias,
  kFcProjectionWeight,  ///< mlp.c_proj (4C, C)
  kFcProjectionBias,
};
enum GptEmbeddingTensor : int { kTokenEmbedding, kPositionEmbedding };
enum GptFinalNormTensor : int { kFinalNormWeight, kFinalNormBias };

/// Units "ln_f", "h.{L-1}" … "h.0", "embedding": the order in which gradients complete. Names,
/// shapes and initial values are Hugging Face's.
ParameterLayout gpt_layout(const GptConfig& config);

}  // namespace zerolab
