/// \file
/// What a command that trains needs before it can start.
#pragma once

#include <memory>

#include "experiments/cli/console.h"
#include "experiments/cli/run_options.h"
#include "experiments/compare/baseline.h"
#include "experiments/compare/compare_stages.h"
#include "experiments/config/validate.h"
#include "experiments/report/run_directory.h"
#include "experiments/runner/run_inputs.h"

namespace zerolab {

/// Everything that the options name, opened and checked. One a process.
struct Setup {
  RunConfig config;
  std::shared_ptr<World> world;
  ModelSpec model;
  std::unique_ptr<RunData> data;
  std::unique_ptr<Fault> fault;             ///< null: clean
  std::unique_ptr<Baseline> baseline;       ///< null: none
  std::unique_ptr<RunDirectory> directory;  ///< on the process that writes
  bool plots = true;

  /// Whether this process prints and writes files.
  bool speaks() const { return world->local_rank() == 0; }
  RunInputs inputs() const { return {config, model, &data->batches(), fault.get()}; }
};

/// What options and --config ask for together.
struct Configured {
  RunConfig config;
  std::vector<std::string> notices;  ///< for the user, one sentence each
};

/// Starts the world, `console.world`, on whose size a file's batch depends.
/// \throws BadInput in all processes alike; Failure.
Configured configure(Console& console, const RunOptions& options, Purpose purpose);

/// In the world that `configure` has started. \throws BadInput for whatever is wrong with the
/// options and the files they name, in all processes alike; Failure.
Setup set_up(Console& console, const RunOptions& options, RunConfig config, Purpose purpose);

/// Progress of rank 0, unless the user wants quiet.
ObserverFactory progress_of(Console& console, const RunOptions& options);

/// Prints verdicts and writes the run directory, in the process that speaks.
void publish(Console& console, Setup& setup, const Comparison& comparison);

}  // namespace zerolab
