/// \file
/// What the operating system says this process holds.
#pragma once

#include <cstdint>

namespace zerolab {

/// The largest resident set since `reset_peak_resident`, or since the process began. (VmHWM)
/// \throws Failure where /proc does not tell.
std::int64_t peak_resident_bytes();

/// Gives free heap back to the system, so that later use counts again, and starts the peak anew
/// from what is resident now. \returns that. \throws Failure where the system does not allow it.
std::int64_t reset_peak_resident();

}  // namespace zerolab
