/// \file
/// A Chrome trace of one stage (chrome://tracing, ui.perfetto.dev).
#pragma once

#include <string>

#include "experiments/runner/results.h"

namespace zerolab {

/// A process per rank with a row for computing and one for communication; waits as bars with their
/// reason; arrows joining one collective across ranks; memory as a counter. Times are microseconds
/// since the first event; ranks on several machines have clocks that differ. Empty lists without
/// `--trace`.
std::string trace_json(const StageResult& result);

}  // namespace zerolab
