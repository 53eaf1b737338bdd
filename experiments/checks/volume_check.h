/// \file
/// COMM: all ranks make the same collective calls, and these move the predicted bytes.
#pragma once

#include <exception>
#include <optional>
#include <vector>

#include "experiments/checks/finding.h"
#include "experiments/predict/prediction.h"
#include "experiments/runner/results.h"
#include "stages/core/error.h"

namespace zerolab {

/// Calls and bytes of one rank, by traffic (training and control) and operation, intra- and
/// inter-node apart, against the formula: all steps together, then all evaluations. The bytes of
/// `native` reductions are nominal, so that only their calls are compared.
std::vector<Finding> check_volume(const RankResult& result, const Prediction& predicted,
                                  const RunConfig& config);

/// The recorded collectives of the last step, call by call, across ranks: the first that differs.
std::vector<Finding> check_collectives(const StageResult& result);

/// What the communicator's checked mode or its watchdog reported, as a finding: which call, and the
/// rank that is alone with it. nullopt for errors of another kind.
std::optional<Finding> collective_finding(const Failure& failure);

}  // namespace zerolab
