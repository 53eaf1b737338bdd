/// \file
/// Trains the micro model on thread ranks, with checks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "experiments/checks/check_factory.h"
#include "experiments/runner/rank_run.h"
#include "experiments/runner/run_inputs.h"

namespace zerolab::test {

/// gpt-micro (L2 C32 T16), 4 steps, clipping that acts, evaluations after steps 2 and 4, and
/// buckets that divide neither the model nor a tensor.
RunConfig micro_config(int ranks, int accumulate = 1);

/// One stage on `config.ranks` thread ranks with the checks of `config.checks`.
StageResult train(const RunConfig& config, const StageRun& run, const Fault* fault = nullptr);
StageResult train(const RunConfig& config, const std::string& stage, const Fault* fault = nullptr);
/// The stage as the factory builds it, without checks.
StageRun stage_run(const std::string& stage, AccumulationOrder order = AccumulationOrder::kReduced);

/// The same on data of the test's own, which `disturb` makes from the right data.
using DisturbData = std::function<std::unique_ptr<BatchSource>(const BatchSource&)>;
StageResult train_on(const DisturbData& disturb, const RunConfig& config, const StageRun& run);

/// PROV on all ranks, joined.
std::vector<Finding> provenance(const RunConfig& config, const StageRun& run,
                                const Fault* fault = nullptr);

ParameterLayout layout_of(const RunConfig& config);

/// The findings of one check.
std::vector<Finding> of(const std::string& check, const std::vector<Finding>& findings);
/// One message a line, for failure messages.
std::string text_of(const std::vector<Finding>& findings);

/// Ranks × micro-batches, with one rank and odd numbers of ranks.
struct Shape {
  int ranks = 1, accumulate = 1;
};
inline constexpr Shape kShapes[] = {{1, 1}, {2, 1}, {3, 1}, {4, 1}, {1, 3}, {2, 3}, {3, 3}, {4, 3}};

/// A run of a stage made on the spot, which calls itself `stage`.
template <class WrongStage>
StageRun run_of(const std::string& stage, AccumulationOrder order = AccumulationOrder::kReduced) {
  StageRun run = stage_run(stage, order);
  run.factory = [](StageParts parts) { return std::make_unique<WrongStage>(std::move(parts)); };
  return run;
}

}  // namespace zerolab::test
