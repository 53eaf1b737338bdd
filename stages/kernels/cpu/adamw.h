/// \file
/// AdamW (Loshchilov and Hutter 2019), torch.optim.AdamW's rule in one pass over memory.
#pragma once

#include <vector>

#include "stages/kernels/cpu/thread_team.h"
#include "stages/kernels/kernels.h"

namespace zerolab::cpu {

struct AdamWState {
  float* p;
  View g;  // fp32, bf16 or fp16
  float* m;
  float* v;
};

/// Updates the segments of p, m and v. The gradient is g·factor.
void adamw(ThreadTeam& team, AdamWState state, float factor, const AdamWRule& rule,
           const std::vector<Segment>& segments);

}  // namespace zerolab::cpu
