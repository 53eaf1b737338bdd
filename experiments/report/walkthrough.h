/// \file
/// `train --walkthrough`: one step of two ranks, told in the terminal.
#pragma once

#include <string>

#include "experiments/runner/results.h"

namespace zerolab {

/// The last step of the first two ranks, visit by visit: what is allocated and freed, which message
/// moves, and what each rank holds afterwards. Lines that hold for both ranks are told once.
std::string walkthrough(const StageResult& result);

}  // namespace zerolab
