/// \file
/// Runs that are known to be right and differ from a reference by rounding only.
#pragma once

#include <vector>

#include "experiments/compare/plan.h"
#include "stages/comm/world.h"
#include "stages/train/step_record.h"

namespace zerolab {

/// Whether two runs may differ in bits because each adds up in an order that is not ours: any two
/// with native and more than two terms; with the ring those that cut the model differently, since
/// its order follows the cut.
bool order_is_open(const RunConfig& config, const PlannedRun& a, const PlannedRun& b);

/// Whether there may be two such runs.
bool order_is_open(const RunConfig& config);

/// Whether a step of the reference's sums has orders that may round differently: two terms have
/// one.
bool has_other_orders(const RunConfig& config);

/// The reference trained again with the micro-batches of each step dealt out in other orders. Where
/// some bypass a block, those keep their turns, since the turn says who bypasses.
std::vector<std::vector<StepRecord>> permuted_runs(World& world, const RunInputs& inputs,
                                                   const PlannedRun& reference);

/// The reference trained again from weights that are off by one step's rounding.
std::vector<std::vector<StepRecord>> perturbed_runs(World& world, const RunInputs& inputs,
                                                    const PlannedRun& reference);

/// The reference trained again, without checks, pictures and held-out losses, like all runs here.
std::vector<StepRecord> bare_run(World& world, const RunInputs& inputs,
                                 const PlannedRun& reference);

/// The reference trained again with every sum of gradients off by what rounding may do in any
/// order: `relative` of the sum of its terms' magnitudes.
std::vector<std::vector<StepRecord>> bounded_runs(World& world, const RunInputs& inputs,
                                                  const PlannedRun& reference, double relative);

/// The largest number of terms in one product of the model: what its rounding grows with.
std::int64_t longest_product(const ModelSpec& model, std::int64_t micro_batch, std::int64_t time);

}  // namespace zerolab
