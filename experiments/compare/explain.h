/// \file
/// Whether a difference between two runs is one of the named ones: by removing it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/compare/plan.h"
#include "experiments/compare/switches.h"
#include "stages/comm/world.h"

namespace zerolab {

/// A run with a configuration of its own.
struct Configured {
  PlannedRun run;
  RunConfig config;
};

/// Why two runs differ, proven: with `options` they have the same bits.
struct Explanation {
  std::vector<std::string> options;
  std::vector<std::string> causes;
  Bound bound = Bound::kGradient;  ///< the weakest of theirs

  /// "differs because …; with --reduction ordered it is equal"
  std::string sentence() const;
};

/// "; the bound is 3.6e-07 of the sum of its terms' magnitudes for an element of the gradient": how
/// far `why` may take the two apart, where their losses are furthest apart in `step`. Trains both
/// three times more where only the loss has a bound. All processes call it.
std::string bound_text(World& world, const RunInputs& inputs, const Explanation& why,
                       const Configured& a, const Configured& b, std::int64_t step);

/// Trains both again with one switch after the other, then with two, and so on, until all
/// fingerprints, losses and norms of all steps are equal: the smallest set that makes them so.
/// nullopt where none does. `inputs` gives model and fault; thread ranks where a configuration has
/// another number of them than `world`. All processes call it.
std::optional<Explanation> explain(World& world, const RunInputs& inputs, const Configured& a,
                                   const Configured& b);

}  // namespace zerolab
