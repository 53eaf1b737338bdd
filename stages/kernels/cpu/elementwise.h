/// \file
/// Moving, converting and adding elements.
#pragma once

#include "stages/core/view.h"
#include "stages/kernels/cpu/thread_team.h"

namespace zerolab::cpu {

void zero(ThreadTeam& team, View dst);
void copy(ThreadTeam& team, View src, View dst);
/// \throws std::logic_error for types other than fp32, bf16, fp16, and fp64 from or to fp32.
void cast(ThreadTeam& team, View src, View dst);
/// dst (fp32) += src (fp32, bf16 or fp16)
void add(ThreadTeam& team, View src, View dst);
void fill(ThreadTeam& team, View dst, float value);

}  // namespace zerolab::cpu
