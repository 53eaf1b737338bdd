/// \file
/// Linear layers, forward and backward, with bias, residual and GELU applied while a tile is in
/// cache. Shapes as in kernels.h: x(M,K), w(K,N), y(M,N); the head's w is (N,K).
#pragma once

#include "stages/kernels/cpu/thread_team.h"
#include "stages/kernels/kernels.h"

namespace zerolab::cpu {

/// y = x·w + b, or residual + x·w + b; b and residual may be null.
void linear(ThreadTeam& team, const float* x, const float* w, const float* b, const float* residual,
            float* y, MatrixShape shape);
/// pre = x·w + b; y = gelu(pre)
void linear_gelu(ThreadTeam& team, const float* x, const float* w, const float* b, float* pre,
                 float* y, MatrixShape shape);
/// dx = dy·wᵀ; with `pre`, dx = gelu'(pre) ⊙ (dy·wᵀ)
void linear_backward_input(ThreadTeam& team, const float* dy, const float* w, const float* pre,
                           float* dx, MatrixShape shape);
/// dw += xᵀ·dy; db += column sums of dy; either may be null
void linear_backward_weight(ThreadTeam& team, const float* x, const float* dy, float* dw, float* db,
                            MatrixShape shape);

/// y = x·wᵀ
void head(ThreadTeam& team, const float* x, const float* w, float* y, MatrixShape shape);
/// dx = dy·w
void head_backward_input(ThreadTeam& team, const float* dy, const float* w, float* dx,
                         MatrixShape shape);
/// dw += dyᵀ·x
void head_backward_weight(ThreadTeam& team, const float* dy, const float* x, float* dw,
                          MatrixShape shape);

}  // namespace zerolab::cpu
