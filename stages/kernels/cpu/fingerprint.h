/// \file
/// A 64-bit hash of a tensor that is a sum over its elements: wherever the slices lie and in
/// whatever order they are hashed, the sums add up to the same number.
///
/// Each element contributes a bijective mix of (canonical index, bit pattern): for a fixed index
/// two different values never contribute the same, so one changed element always changes the sum;
/// an element that is zero contributes as much as any other.
#pragma once

#include <cstdint>
#include <vector>

#include "stages/core/view.h"
#include "stages/kernels/cpu/thread_team.h"
#include "stages/kernels/kernels.h"

namespace zerolab::cpu {

inline constexpr std::uint64_t kFingerprintIndexFactor = 0x9E3779B97F4A7C15;  // 2⁶⁴ / golden ratio
// Odd, so that multiplying is bijective; below 2³², so that it is cheap in vector lanes.
inline constexpr std::uint64_t kFingerprintFactor1 = 0xD168AAAD;
inline constexpr std::uint64_t kFingerprintFactor2 = 0xAF723597;

/// What one element contributes. `bits` is its bit pattern, zero-extended.
constexpr std::uint64_t fingerprint_of_element(std::int64_t index, std::uint32_t bits) {
  std::uint64_t h = (static_cast<std::uint64_t>(index) + 1) * kFingerprintIndexFactor;
  h ^= bits;
  h = (h ^ (h >> 32U)) * kFingerprintFactor1;
  h = (h ^ (h >> 29U)) * kFingerprintFactor2;
  return h ^ (h >> 32U);
}

/// out[segment.tensor] += the contributions of the segments of x (fp32, bf16 or fp16).
void fingerprint(ThreadTeam& team, View x, const std::vector<Segment>& segments,
                 std::uint64_t* out);

}  // namespace zerolab::cpu
