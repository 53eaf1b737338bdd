/// \file
/// PROV: whose gradients arrive where, and whose parameters are read.
#pragma once

#include <vector>

#include "experiments/checks/finding.h"
#include "experiments/runner/rank_run.h"

namespace zerolab {

/// Runs an instance of the stage on its own device and communicator, before and apart from
/// training, with a model that writes codes instead of gradients and an optimizer that writes codes
/// instead of updates. Passes of twelve contributors (rank, micro-batch) and two placement passes
/// run back to back, each a global batch with its step. Works for any stage that fulfils the
/// contract.
///
/// The instance has the model's units, uses and tensor names: a micro-batch that bypasses a block
/// must be missing there, and nowhere else. A model above a million parameters is shrunk, its
/// buckets in proportion, so element numbers are then those of the small tensors.
///
/// Returns what this rank found. Collective. \throws whatever the stage throws.
std::vector<Finding> check_provenance(RankContext& ranks, const RunInputs& inputs,
                                      const StageRun& run);

}  // namespace zerolab
