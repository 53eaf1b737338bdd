/// \file
/// Norms of tensors that are cut among ranks: order_free_sum.h, for each tensor apart.
#pragma once

#include <cstdint>
#include <vector>

#include "stages/core/view.h"
#include "stages/kernels/cpu/thread_team.h"
#include "stages/kernels/kernels.h"

namespace zerolab::cpu {

/// out[tensor] = max(out[tensor], the bits of the largest |x| of the tensor's segments).
void tensor_maxima(ThreadTeam& team, View x, const std::vector<Segment>& segments,
                   std::int32_t* out);

/// sums[3·tensor + fold] += the folds of Σ x² of the tensor's segments.
void tensor_sums(ThreadTeam& team, View x, const std::vector<Segment>& segments,
                 const std::int32_t* maxima, std::int64_t largest_count, double* sums);

/// out[i] = the largest of maxima[part·count + i].
void combine_maxima(const std::int32_t* maxima, int parts, std::int64_t count, std::int32_t* out);

/// ratios[t] = ‖w_t‖ / ‖u_t‖, or 1 where either is 0; NaN where either is not finite. A part of
/// `sums` holds the folds of w's `tensors` tensors, then of u's.
void trust_ratios(const double* sums, int parts, std::int64_t tensors, float* ratios);

}  // namespace zerolab::cpu
