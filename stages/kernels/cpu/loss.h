/// \file
/// Cross entropy over a vocabulary, and squared error.
#pragma once

#include <cstdint>

#include "stages/kernels/cpu/thread_team.h"

namespace zerolab::cpu {

/// Returns Σ over rows of −log softmax(logits)[target], in fp64, in row order. With `gradient`,
/// logits (rows, V) become (softmax − onehot)·scale; without, they are only read. A negative target
/// has no loss and no gradient. \throws Failure for a target of V or more.
double cross_entropy(ThreadTeam& team, float* logits, const std::int32_t* targets,
                     std::int64_t rows, std::int64_t V, float scale, bool gradient);

/// Returns Σ (prediction − target)² in fp64; dprediction = 2·scale·(prediction − target) unless
/// null.
double squared_error(ThreadTeam& team, const float* prediction, const float* target,
                     float* dprediction, std::int64_t count, float scale);

}  // namespace zerolab::cpu
