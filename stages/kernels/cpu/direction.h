/// \file
/// What optimizers do that first choose a direction and then go along it: momentum, and the step.
#pragma once

#include <vector>

#include "stages/kernels/cpu/thread_team.h"
#include "stages/kernels/kernels.h"

namespace zerolab::cpu {

/// momentum = β·momentum + g·factor; u = g·factor + β·momentum, on the segments. g: fp32, bf16 or
/// fp16.
void nesterov_direction(ThreadTeam& team, View g, float* momentum, float* u, float factor,
                        float beta, const std::vector<Segment>& segments);

/// p = p·(1 − lr·weight_decay) − lr·scales[tensor]·u, on the segments.
void step_along(ThreadTeam& team, float* p, const float* u, const float* scales,
                const DirectionRule& rule, const std::vector<Segment>& segments);

}  // namespace zerolab::cpu
