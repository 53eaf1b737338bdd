/// \file
/// SGD with momentum, torch.optim.SGD's rule (dampening 0, no Nesterov).
#pragma once

#include <vector>

#include "stages/kernels/cpu/thread_team.h"
#include "stages/kernels/kernels.h"

namespace zerolab::cpu {

/// Updates the segments of p and, unless the rule's momentum is 0, of `momentum`. The gradient is
/// g·factor (g fp32, bf16 or fp16), plus weight_decay·p of the segment's group.
void sgd(ThreadTeam& team, float* p, View g, float* momentum, float factor, const SgdRule& rule,
         const std::vector<Segment>& segments);

}  // namespace zerolab::cpu
