/// \file
/// What the figures were measured on.
#pragma once

#include <cstdint>
#include <string>

#include "experiments/compare/comparison.h"

namespace zerolab {

struct Machine {
  Environment environment;
  int cores = 1;
  std::int64_t memory_bytes = 0;
  double load = 0;  ///< runnable tasks, mean of the minute before the measurement

  /// "AMD EPYC, 2 cores, 25.2 GB, Debian …; gcc 12.2.0, Release, …"
  std::string text() const;
};

/// The machine as it is now.
Machine this_machine();

/// Whether so much else runs that ratios of times say little.
bool busy(const Machine& machine);

}  // namespace zerolab
