/// \file
/// Builds one stage on one rank from its parts and trains it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "experiments/checks/check.h"
#include "experiments/config/run_config.h"
#include "experiments/faults/fault.h"
#include "experiments/runner/results.h"
#include "experiments/runner/stage_factory.h"
#include "stages/data/batch_source.h"
#include "stages/model/model_factory.h"

namespace zerolab {

/// What the ranks of a run share; read-only while they run.
struct RunInputs {
  RunConfig config;
  ModelSpec model;
  const BatchSource* data = nullptr;
  const Fault* fault = nullptr;  ///< nullptr: clean
};

/// What one run of one stage is.
struct StageRun {
  std::string name;   ///< "zero2", "ddp.local"
  std::string stage;  ///< "zero2", "ddp": for predictions and messages
  StageFactory factory;
  AccumulationOrder order = AccumulationOrder::kReduced;
  /// Checks of each rank; called on all ranks.
  std::function<std::vector<std::unique_ptr<Check>>(const CheckContext&)> checks;
  /// Further observers of each rank's training: progress bars, walkthroughs, captures.
  std::function<std::vector<std::unique_ptr<TrainObserver>>(const CheckContext&)> observers;
};

/// Trains on this rank; all ranks call it. \throws whatever goes wrong on this rank.
RankResult run_rank(RankContext& ranks, const RunInputs& inputs, const StageRun& run);

/// Runs on all ranks of `world` and gathers the results on every process.
StageResult run_stage(World& world, const RunInputs& inputs, const StageRun& run);

}  // namespace zerolab
