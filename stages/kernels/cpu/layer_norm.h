/// \file
/// Layer normalisation over the last dimension (Ba, Kiros, Hinton 2016).
#pragma once

#include <cstdint>

#include "stages/kernels/cpu/thread_team.h"

namespace zerolab::cpu {

/// Added to the variance, as in GPT-2.
inline constexpr float kLayerNormEpsilon = 1e-5F;

/// y = (x − mean) · rstd · w + b for each row of C; mean and rstd (rows) are kept for backward.
void layer_norm(ThreadTeam& team, const float* x, const float* w, const float* b, float* y,
                float* mean, float* rstd, std::int64_t rows, std::int64_t C);

/// dx = carry + backward of the norm; dw, db += their gradients, and may be
/// null. So may `carry`, which may also be dx.
void layer_norm_backward(ThreadTeam& team, const float* dy, const float* x, const float* w,
                         const float* mean, const float* rstd, const float* carry, float* dx,
                         float* dw, float* db, std::int64_t rows, std::int64_t C);

}  // namespace zerolab::cpu
