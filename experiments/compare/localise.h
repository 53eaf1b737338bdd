/// \file
/// From an unequal fingerprint to the element: both runs are repeated up to the step.
#pragma once

#include <optional>

#include "experiments/compare/bits.h"
#include "experiments/compare/comparison.h"
#include "experiments/compare/plan.h"
#include "stages/comm/world.h"

namespace zerolab {

/// One of the two runs to repeat.
struct Replay {
  const RunInputs& inputs;  ///< clean, or with the fault
  const PlannedRun& run;
};

/// Repeats both runs up to the difference's step and compares the tensor's elements. All processes
/// call it. A difference that is no tensor's (loss, norm, data), and one that does not come back
/// (a race), is returned with what is known.
Divergence localise(World& world, const Replay& reference, const Replay& candidate,
                    const BitDifference& difference, const ParameterLayout& layout);

}  // namespace zerolab
