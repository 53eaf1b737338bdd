/// \file
/// REP and IG: runs that must give the same bits although something about them is different.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/checks/finding.h"
#include "experiments/config/run_config.h"
#include "experiments/runner/results.h"
#include "stages/model/layout.h"

namespace zerolab {

/// One run to compare with the one it is made from.
struct Variant {
  std::string check;  ///< "REP", "IG"
  std::string what;   ///< "with a bucket of 0.37 MiB instead of 1 MiB"
  RunConfig config;
};

/// REP: the same once more; and with seeded delays at every wait and operation, and NaN in fresh
/// and freed memory.
std::vector<Variant> repetitions(const RunConfig& config);

/// IG: another bucket size, overlap, number of threads, activation checkpoints instead of none (or
/// the other way round), and another split of the global batch into ranks and micro-batches, as far
/// as the promise reaches:
///  - the bucket only where bits do not follow it: not in `zero3`, nor with `ring` or `native`
///    reductions over three ranks or more;
///  - checkpoints only in a model that has blocks;
///  - the split only in `reduced` order with thread ranks and without skipped blocks; any with
///    `tree`, and between N ranks with one micro-batch and one rank with N of them with `ordered`,
///    which adds up in the same order.
std::vector<Variant> regroupings(const RunConfig& config, const std::string& stage,
                                 AccumulationOrder order);

/// Whether a named difference accounts for what a variant's run has of its own.
using AccountedFor = std::function<bool(const Variant&, const StageResult&)>;

/// Runs every variant and compares its bits with the original's. The original has fingerprints, and
/// so have what `run` returns. A difference for which `accounted_for` finds a legitimate cause is
/// no finding.
std::vector<Finding> check_variants(const StageResult& original, const ParameterLayout& layout,
                                    const std::vector<Variant>& variants,
                                    const std::function<StageResult(const RunConfig&)>& run,
                                    const AccountedFor& accounted_for = {});

}  // namespace zerolab
