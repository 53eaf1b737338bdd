/// \file
/// The Newton–Schulz iteration that Muon orthogonalises with (Jordan et al. 2024,
/// https://kellerjordan.github.io/posts/muon/), in fp32.
#pragma once

#include <cstdint>

#include "stages/core/view.h"
#include "stages/kernels/cpu/thread_team.h"

namespace zerolab::cpu {

/// x(m,n) = five iterations of X ↦ aX + (bA + cA²)X from x / (‖x‖ + 1e-7). A matrix with more rows
/// than columns is iterated from the right, X ↦ aX + X(bA + cA²) with A = XᵀX: the same numbers as
/// transposing it, and no copies. `scratch` has newton_schulz_scratch(m, n) elements.
void newton_schulz(ThreadTeam& team, View x, float* scratch, std::int64_t m, std::int64_t n);

}  // namespace zerolab::cpu
