/// \file
/// Philox4x32-10, a counter-based random generator: a pure function of (counter, key), so that any
/// element of any random tensor can be drawn by anybody at any time.
/// Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (SC 2011).
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace zerolab {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

/// Four independent uniform 32-bit numbers.
constexpr std::array<std::uint32_t, 4> philox(PhiloxCounter c, PhiloxKey key) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
  constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9;  // golden ratio
  constexpr std::uint32_t kWeyl1 = 0xBB67AE85;  // √3 − 1
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = kMultiplier0 * c[0];
    const std::uint64_t product1 = kMultiplier1 * c[2];
    c = {static_cast<std::uint32_t>(product1 >> 32U) ^ c[1] ^ key[0],
         static_cast<std::uint32_t>(product1),
         static_cast<std::uint32_t>(product0 >> 32U) ^ c[3] ^ key[1],
         static_cast<std::uint32_t>(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return c;
}

/// Uniform in (0, 1): the middle of one of 2²³ equal cells, so that neither end can occur.
constexpr float uniform(std::uint32_t bits) {
  return (static_cast<float>(bits >> 9U) + 0.5F) * 0x1p-23F;
}

/// Four draws from N(0, 1) by Box and Muller's transform, from one Philox call.
inline std::array<float, 4> normals(PhiloxCounter counter, PhiloxKey key) {
  constexpr float kTwoPi = 6.283185307179586F;
  const auto bits = philox(counter, key);
  std::array<float, 4> out{};
  for (unsigned pair = 0; pair < 4; pair += 2) {
    const float radius = std::sqrt(-2.0F * std::log(uniform(bits[pair])));
    const float angle = kTwoPi * uniform(bits[pair + 1]);
    out[pair] = radius * std::cos(angle);
    out[pair + 1] = radius * std::sin(angle);
  }
  return out;
}

}  // namespace zerolab
