/// \file
/// What a fault run prints about its detectors.
#pragma once

#include "experiments/cli/console.h"
#include "experiments/compare/fault_outcome.h"

namespace zerolab {

/// One line a detector: whether it fired and what it named; then whether the fault was caught.
void print_outcome(Console& console, const FaultOutcome& outcome);

}  // namespace zerolab
