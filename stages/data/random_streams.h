/// \file
/// Which numbers of Philox(seed) the data draws, so that no two uses share them.
#pragma once

#include <cstdint>

#include "stages/core/philox.h"

namespace zerolab {

/// The last word of the counter. Initial weights have the upper half of the tensor's number there,
/// which is 0.
inline constexpr std::uint32_t kWindowOrderStream = 0xda7a0001;
inline constexpr std::uint32_t kRegressionInputStream = 0xda7a0002;
inline constexpr std::uint32_t kRegressionNoiseStream = 0xda7a0003;
inline constexpr std::uint32_t kPaddingStream = 0xda7a0004;

constexpr PhiloxKey philox_key(std::uint64_t seed) {
  return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)};
}

}  // namespace zerolab
