/// \file
/// Reads a Hugging Face `config.json` of a GPT-2.
#pragma once

#include <filesystem>
#include <vector>

#include "stages/model/gpt_config.h"

namespace zerolab {

struct HuggingFaceConfig {
  GptConfig config;
  /// Probabilities of dropout: embd_pdrop, attn_pdrop, resid_pdrop.
  std::vector<double> dropouts;
};

/// Keys and defaults are those of transformers' GPT2Config, with its aliases (hidden_size,
/// num_hidden_layers, …), dropout included.
/// \throws BadInput when the file cannot be read, is not JSON, describes another architecture, asks
/// for a feature that is not implemented (named in the message), gives a value of the wrong kind,
/// or has a key that is a misspelling of one that matters.
HuggingFaceConfig read_hugging_face_config(const std::filesystem::path& path);

}  // namespace zerolab
