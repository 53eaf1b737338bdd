/// \file
/// The named differences: what may make two right runs round differently, and what removes it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiments/config/run_config.h"

namespace zerolab {

/// What is known of how far a difference takes two runs apart, the weaker the later.
enum class Bound : std::uint8_t {
  kGradient,  ///< other roundings of the same terms: `gradient_bound`
  kLoss,      ///< every operation may round differently: that of a baseline of another binary
  kNone,      ///< it is not rounding
};

/// One difference and the options with which both runs are free of it.
struct Switch {
  std::string option;  ///< "--reduction ordered"
  std::string cause;   ///< "a ring adds up in an order that follows the cut"
  Bound bound = Bound::kGradient;
  std::function<void(RunConfig&)> apply;
};

/// Everything that may legitimately make runs with these configurations differ in bits, in the
/// order in which it should be suspected. `accumulation_order` is each run's own.
std::vector<Switch> switches_between(const RunConfig& a, const RunConfig& b);

/// How far rounding may take two right runs apart in one element of the reduced gradient, relative
/// to the sum of its terms' magnitudes: γ of the one plus γ of the other (docs/rounding-bound.md),
/// each with its own types. Infinity where there are so many roundings that they have no bound.
double gradient_bound(const RunConfig& a, const RunConfig& b);

}  // namespace zerolab
