/// \file
/// What a GPT keeps from forward for backward, and the scratch of its backward pass.
#pragma once

#include <vector>

#include "stages/kernels/kernels.h"
#include "stages/model/activation_memory.h"
#include "stages/model/gpt_uses.h"

namespace zerolab {

/// What a block's backward pass needs of its forward pass, besides its input.
struct GptBlockActivations {
  Buffer ln_1;                  // (B,T,C)
  Buffer ln_1_mean, ln_1_rstd;  // (B,T)
  Buffer qkv;                   // (B,T,3C)
  Buffer attention_saved;       // the back end's own
  Buffer attention;             // (B,T,C)
  Buffer middle;                // (B,T,C), the residual stream after attention
  Buffer ln_2;                  // (B,T,C)
  Buffer ln_2_mean, ln_2_rstd;  // (B,T)
  Buffer fc_before_gelu, fc;    // (B,T,4C)
};

/// Allocated once, for one size of micro-batch. With checkpoints the segments take turns in one set
/// of blocks; without, the one segment is the whole model.
class GptActivations {
 public:
  GptActivations(const GptConfig& config, const ModelOptions& options, std::int64_t batch,
                 std::int64_t time, const ActivationMemory& memory, const Kernels& kernels);

  const GptBlockActivations& block(std::int64_t layer) const;
  /// (B,T,C), the residual stream that enters a block, or for the number of layers the final norm.
  View residual(std::int64_t layer) const;

  Buffer embedding;             // (B,T,C)
  Buffer ln_f;                  // (B,T,C)
  Buffer ln_f_mean, ln_f_rstd;  // (B,T)
  Buffer logits;                // (B,T,V); their gradient takes their place

  // Shared by all blocks. Only backward uses them.
  Buffer d_residual;  // (B,T,C), gradient of the residual stream
  Buffer d_narrow;    // (B,T,C), of a norm's or attention's output
  Buffer d_wide;      // (B,T,4C), of the MLP's inner layer or, its first 3C, of qkv

  Buffer loss;  // fp64 (1)

 private:
  std::int64_t segment_length_;
  std::int64_t layers_;
  std::vector<GptBlockActivations> blocks_;  // of one segment
  std::vector<Buffer> inside_;               // after each of its blocks but the last
  std::vector<Buffer> ends_;                 // after each segment
};

}  // namespace zerolab
