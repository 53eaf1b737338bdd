/// \file
/// Causal self-attention, one (sequence, head) at a time, in blocks of queries.
///
/// Only the row maxima and the inverse row sums of the softmax are kept from forward; backward
/// computes the probabilities again (as FlashAttention does, Dao et al. 2022), which saves the
/// (B, NH, T, T) matrix. Blocks above the diagonal are never touched.
#pragma once

#include <cstdint>

#include "stages/kernels/cpu/thread_team.h"
#include "stages/kernels/kernels.h"

namespace zerolab::cpu {

/// Maximum and inverse sum of every row: 2 · B · NH · T.
std::int64_t attention_saved_count(AttentionShape shape);

/// qkv (B,T,3C) -> y (B,T,C); saved (B,NH,2,T)
void attention(ThreadTeam& team, const float* qkv, float* y, float* saved, AttentionShape shape,
               const DropoutMask& mask);

/// dqkv (B,T,3C) from dy (B,T,C) and what forward read and wrote.
void attention_backward(ThreadTeam& team, const float* dy, const float* qkv, const float* y,
                        const float* saved, float* dqkv, AttentionShape shape,
                        const DropoutMask& mask);

}  // namespace zerolab::cpu
