/// \file
/// Dropout with masks that are drawn anew wherever they are needed (kernels.h, DropoutMask).
#pragma once

#include <cstdint>

#include "stages/kernels/cpu/thread_team.h"
#include "stages/kernels/kernels.h"

namespace zerolab::cpu {

/// What elements [first, first + count) of the mask's `row`-th sample are multiplied by: 0 where
/// dropped, 1/(1 − probability) rounded to fp32 where kept.
void draw_dropout(const DropoutMask& mask, std::int64_t row, std::int64_t first, std::int64_t count,
                  float* scales);

/// y = residual + mask ⊙ x in fp32, each product and sum rounded once, then to y's dtype.
void dropout(ThreadTeam& team, View x, View residual, View y, std::int64_t samples,
             const DropoutMask& mask);

}  // namespace zerolab::cpu
