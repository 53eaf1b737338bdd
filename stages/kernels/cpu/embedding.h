/// \file
/// Token plus position embedding.
#pragma once

#include <cstdint>

#include "stages/kernels/cpu/thread_team.h"

namespace zerolab::cpu {

struct EmbeddingShape {
  std::int64_t batch = 0, time = 0, channels = 0, vocabulary = 0;
};

/// y(B,T,C) = wte[tokens] + wpe[0..T). \throws Failure for a token outside [0, V).
void embedding(ThreadTeam& team, const std::int32_t* tokens, const float* wte, const float* wpe,
               float* y, EmbeddingShape shape);

/// dwte[tokens] += dy and dwpe[0..T) += dy, each element in token order.
/// \throws Failure for a token outside [0, V).
void embedding_backward(ThreadTeam& team, const std::int32_t* tokens, const float* dy, float* dwte,
                        float* dwpe, EmbeddingShape shape);

}  // namespace zerolab::cpu
