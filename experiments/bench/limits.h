/// \file
/// Loops that do nothing but what a limit allows: the denominators of the kernels' figures.
#pragma once

#include <cstdint>

namespace zerolab::limits {

/// to = from with ordinary loads and stores: 4 bytes read and 4 written an element.
void copy(const float* from, float* to, std::int64_t count);

/// The memory accesses of AdamW and next to no arithmetic: reads p, g, m and v (16 bytes an
/// element), writes p, m and v (12 bytes). Second moments stay positive.
void adamw_pattern(float* p, const float* g, float* m, float* v, std::int64_t count);
inline constexpr std::int64_t kAdamWBytes = 28;

/// Fused multiply-adds on registers alone. Returns a number that depends on all of them.
float multiply_add(std::int64_t rounds);
/// Floating-point operations of one round: 12 chains of 8 lanes, a product and a sum each.
inline constexpr std::int64_t kFlopsPerRound = 12 * 8 * 2;

}  // namespace zerolab::limits
