/// \file
/// LAMB's direction (You et al. 2020, algorithm 2), before it is scaled by a tensor's trust ratio.
#pragma once

#include <vector>

#include "stages/kernels/cpu/thread_team.h"
#include "stages/kernels/kernels.h"

namespace zerolab::cpu {

struct LambState {
  const float* p;
  View g;  // fp32, bf16 or fp16
  float *m, *v, *u;
};

/// Updates the segments of m and v, and overwrites those of u with m̂ / (√v̂ + ε) + weight_decay·p.
/// The gradient is g·factor.
void lamb_direction(ThreadTeam& team, LambState state, float factor, const AdamWRule& rule,
                    const std::vector<Segment>& segments);

}  // namespace zerolab::cpu
