/// \file
/// A DeepSpeed JSON configuration as ours (`--config FILE`).
#pragma once

#include <string>
#include <vector>

#include "experiments/config/deepspeed/overlay.h"
#include "experiments/config/run_config.h"
#include "experiments/config/validate.h"

namespace zerolab {

/// Writes what `config.config_file` says over `config`, except over what the command line has
/// `given`. `config.ranks` must be the size of the world, which the batch depends on.
///
/// A block that is there brings DeepSpeed's defaults for its absent keys; a block that is not
/// leaves ours. The value "auto" is the same as no key.
/// \returns what the user is to be told: keys that were not used, and values that had to give way.
/// \throws BadInput for a file, key or value that is wrong or asks for what zerolab cannot do.
std::vector<std::string> apply_deepspeed_config(RunConfig& config, Purpose purpose,
                                                const GivenOptions& given);

}  // namespace zerolab
