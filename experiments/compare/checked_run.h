/// \file
/// One run of a comparison, with every check that was asked for.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "experiments/compare/plan.h"
#include "experiments/predict/prediction.h"
#include "stages/comm/world.h"

namespace zerolab {

/// Observers of one rank of the run called `run`: progress, saving. Called on all ranks.
using ObserverFactory = std::function<std::vector<std::unique_ptr<TrainObserver>>(
    const CheckContext&, const std::string& run)>;

struct CheckedRun {
  StageResult result;                 ///< findings of all checks among those of its ranks
  std::vector<Prediction> predicted;  ///< by rank; empty where there is no formula
  /// Where IG met a difference that a named one accounts for (explain.h), a sentence each.
  std::vector<std::string> explained;
};

/// Provenance first, then training under the checks that watch, then the checks that look at what
/// it brought home, then those that repeat it. All processes call it.
///
/// A stage of a reader's own has no formula: COMM then compares the ranks' calls only, and MEM
/// looks for memory that should have been freed.
///
/// A faulty run, or one of a reader's stage, that makes ranks call different collectives ends with
/// a finding instead of an exception, and without steps. \throws whatever else goes wrong.
CheckedRun run_checked(World& world, const RunInputs& inputs, const PlannedRun& run,
                       const ObserverFactory& observers);

/// The inputs of one planned run: its own configuration, the fault only where it belongs.
RunInputs inputs_of(const RunInputs& inputs, const PlannedRun& run);

}  // namespace zerolab
