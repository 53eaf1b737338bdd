/// \file
/// Which runs a comparison consists of, and which is held against which.
#pragma once

#include <string>
#include <vector>

#include "experiments/config/run_config.h"
#include "experiments/faults/fault.h"
#include "experiments/runner/rank_run.h"

namespace zerolab {

struct PlannedRun {
  std::string name;           ///< "zero1", "zero1.local"
  std::string stage;          ///< "zero1"
  std::string compared_with;  ///< the name of another run; empty for a reference
  AccumulationOrder order = AccumulationOrder::kReduced;
  bool faulty = false;
  StageFactory factory = {};  ///< of a stage that is none of ours; empty: the one called `stage`

  /// A stage of a reader's own: there is no formula of its bytes.
  bool own() const { return static_cast<bool>(factory); }
};

/// References come before the runs that are held against them.
struct ComparisonPlan {
  std::string reference;
  std::vector<PlannedRun> runs;
};

/// The reference is DDP where it is listed and clean, else the first clean stage. With several
/// micro-batches all stages run in reduced order, and DDP and ZeRO-1 also in local order, as a pair
/// of their own: their sums round differently, which is a figure, not a verdict. A fault run leaves
/// that pair out. In the usual order (`usual_order`) DDP and ZeRO-1 run locally instead, and
/// ZeRO-2 and ZeRO-3, which cannot, differ from them by a named difference.
ComparisonPlan plan_comparison(const RunConfig& config, const FaultLabel* fault);

/// One stage, compared with nothing.
ComparisonPlan plan_training(const RunConfig& config);

/// The configuration of one planned run.
RunConfig config_of(const RunConfig& config, const PlannedRun& run);

/// The run without checks and observers.
StageRun stage_run(const PlannedRun& run);

}  // namespace zerolab
