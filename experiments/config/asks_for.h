/// \file
/// Whether a run is to be checked in some way.
#pragma once

#include <algorithm>
#include <string_view>

#include "experiments/config/run_config.h"

namespace zerolab {

/// Whether `check` ("REF") is among --check.
inline bool asks_for(const RunConfig& config, std::string_view check) {
  return std::ranges::find(config.checks, check) != config.checks.end();
}

}  // namespace zerolab
