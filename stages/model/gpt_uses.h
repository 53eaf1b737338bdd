/// \file
/// In which order a GPT visits its units.
#pragma once

#include <optional>
#include <vector>

#include "stages/model/gpt_config.h"
#include "stages/model/model_options.h"
#include "stages/stage.h"

namespace zerolab {

/// The unit of a block, 0 the first; of the final norm; of the embedding, which is the head too.
UnitId gpt_block_unit(const GptConfig& config, std::int64_t layer);
UnitId gpt_final_norm_unit();
UnitId gpt_embedding_unit(const GptConfig& config);

/// Blocks [begin, end) whose activations are computed again together.
struct GptSegment {
  std::int64_t begin = 0, end = 0;
};
/// In order; one of all blocks where everything is kept. The last may be shorter.
std::vector<GptSegment> gpt_segments(const GptConfig& config, const ModelOptions& options);

/// The block that micro-batch `index` of a step bypasses, if it does: with M = skip_block_every,
/// the M-th one bypasses the first block, the 2M-th the second.
std::optional<std::int64_t> gpt_skipped_block(const GptConfig& config, const ModelOptions& options,
                                              int index);

/// Embedding, h.0 … h.{L-1}, ln_f, embedding (as the head).
std::vector<Use> gpt_evaluation_uses(const GptConfig& config);

/// The same without `skipped`, then backward: embedding (as the head), ln_f, h.{L-1} … h.0, and the
/// embedding, which reads no parameters and completes the gradient of the tied weight. With
/// checkpoints each segment is computed again, first block to last, before its backward.
std::vector<Use> gpt_training_uses(const GptConfig& config, const ModelOptions& options,
                                   std::optional<std::int64_t> skipped);

}  // namespace zerolab
