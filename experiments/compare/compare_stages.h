/// \file
/// Runs what a plan lists and judges it.
#pragma once

#include "experiments/compare/baseline.h"
#include "experiments/compare/checked_run.h"
#include "experiments/compare/comparison.h"

namespace zerolab {

/// Trains every run of the plan on `world` and compares it with its reference: by bits, and where
/// the order of the reduction is not ours by the spread of clean runs; a difference is traced to
/// its element. All processes call it and get the same comparison.
/// \throws BadInput, Failure
Comparison compare_stages(World& world, const RunInputs& inputs, const ComparisonPlan& plan,
                          const ObserverFactory& observers, const Baseline* baseline);

}  // namespace zerolab
