/// \file
/// The distance between two floats, and whether they are the same bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace zerolab {

inline bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

/// Floats between the two, in units in the last place; 0 between −0 and +0. −1 where one is NaN:
/// there is no distance.
inline std::int64_t ulp_distance(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return -1;
  // Sign and magnitude become one line of integers in the order of the reals.
  const auto on_the_line = [](float x) {
    const auto bits = static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(x));
    return bits < 0x80000000LL ? bits : 0x80000000LL - bits;
  };
  return std::abs(on_the_line(a) - on_the_line(b));
}

}  // namespace zerolab
