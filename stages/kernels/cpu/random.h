/// \file
/// Normal random tensors whose elements do not depend on who draws them.
#pragma once

#include <cstdint>

#include "stages/core/view.h"
#include "stages/kernels/cpu/thread_team.h"

namespace zerolab::cpu {

/// Where an element's draw comes from: Philox with key `seed` and counter (element / 4, stream_id);
/// one call serves four neighbours.
struct NormalSource {
  float deviation;
  std::uint64_t seed;
  std::uint64_t stream_id;
};

/// dst[i] = deviation · N(0,1) of element first_index + i; dst is fp32, bf16 or fp16.
void normal(ThreadTeam& team, View dst, NormalSource source, std::int64_t first_index);

}  // namespace zerolab::cpu
