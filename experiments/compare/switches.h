/// \file
/// The named differences: what may make two right runs round differently, and what removes it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/config/run_config.h"

namespace zerolab {

/// One difference and the options with which both runs are free of it.
struct Switch {
  std::string option;       ///< "--reduction ordered"
  std::string cause;        ///< "a ring adds up in an order that follows the cut"
  bool by_rounding = true;  ///< the two do the same sums, rounded differently
  std::function<void(RunConfig&)> apply;
};

/// Everything that may legitimately make runs with these configurations differ in bits, in the
/// order in which it should be suspected. `accumulation_order` is each run's own.
std::vector<Switch> switches_between(const RunConfig& a, const RunConfig& b);

/// How far rounding may take two right runs apart in one element of the reduced gradient, relative
/// to the sum of its terms' magnitudes: 2γ (docs/rounding-bound.md), with the types of `config`.
/// Infinity where there are so many roundings that they have no bound.
double gradient_bound(const RunConfig& config);

}  // namespace zerolab
