/// \file
/// What this binary runs on.
#pragma once

#include "experiments/compare/comparison.h"

namespace zerolab {

/// The environment of this process, the time being that of the call.
Environment this_environment();

}  // namespace zerolab
