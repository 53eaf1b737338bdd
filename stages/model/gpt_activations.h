/// \file
/// What a GPT keeps from forward for backward, and the scratch of its backward pass.
#pragma once

#include <vector>

#include "stages/device/device.h"
#include "stages/kernels/kernels.h"
#include "stages/model/gpt_config.h"

namespace zerolab {

/// Kept by each block for its backward pass, in the model's type; what attention keeps, means and
/// rstds are fp32.
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
  Buffer output;                // (B,T,C), the residual stream after the MLP
};

/// Allocated once, for one size of micro-batch.
struct GptActivations {
  GptActivations(const GptConfig& config, std::int64_t batch, std::int64_t time, Device& device,
                 Stream& compute, const Kernels& kernels, DType dtype);

  Buffer embedding;  // (B,T,C)
  std::vector<GptBlockActivations> blocks;
  Buffer ln_f;                  // (B,T,C)
  Buffer ln_f_mean, ln_f_rstd;  // (B,T)
  Buffer logits;                // (B,T,V); their gradient takes their place

  // Shared by all blocks. Only backward uses them.
  Buffer d_residual;  // (B,T,C), gradient of the residual stream
  Buffer d_narrow;    // (B,T,C), of a norm's or attention's output
  Buffer d_wide;      // (B,T,4C), of the MLP's inner layer or, its first 3C, of qkv

  Buffer loss;  // fp64 (1)
};

}  // namespace zerolab
