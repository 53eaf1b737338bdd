/// \file
/// REF: a run has the same bits as the reference, and both prove something.
#pragma once

#include <string>
#include <vector>

#include "experiments/checks/finding.h"
#include "experiments/runner/results.h"
#include "stages/model/layout.h"

namespace zerolab {

/// Why equal bits would prove nothing, although the run is complete: all ranks read the same data
/// (a missing reduction changes nothing then), a gradient is zero, or an update with a learning
/// rate above 0 changed no parameter. Empty when there is no such reason.
std::string what_hides_faults(const StageResult& result);

/// At most one finding: why one of the runs cannot be compared, or the first place where they
/// differ
/// (`compare/bits.h`). Both were asked for `steps` steps on the reference's number of ranks, or,
/// when `ranks` is given, the candidate on that many; both with fingerprints. Never throws on bad
/// runs.
std::vector<Finding> check_reference(const StageResult& reference, const StageResult& candidate,
                                     const ParameterLayout& layout, std::int64_t steps,
                                     int ranks = 0);

}  // namespace zerolab
