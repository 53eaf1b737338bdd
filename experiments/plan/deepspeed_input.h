/// \file
/// What a plan reads from a DeepSpeed JSON.
#pragma once

#include <string>
#include <vector>

#include "experiments/plan/deepspeed_estimate.h"

namespace zerolab {

/// The keys that memory, traffic and time follow from. Absent, null and "auto": empty.
struct DeepSpeedPlanInput {
  int stage = 0;
  std::string precision = "fp32";
  std::optional<std::int64_t> micro_batch, accumulate, train_batch;
  std::optional<std::string> optimizer;  ///< "adamw" or "sgd"
  std::int64_t bucket_elements = 500'000'000;
  std::optional<bool> overlap;
  bool offload_parameters = false, offload_optimizer = false;
  std::string communication_dtype;  ///< empty: that of the precision
};

/// \throws BadInput with file and key when the file is missing, not JSON, or a value makes no
/// sense.
DeepSpeedPlanInput read_deepspeed_plan(const std::string& path);

/// Puts the file's values into the recipe, but for those the command line gave, by option name.
/// Batch sizes follow train_batch = micro · accumulation · ranks. \throws BadInput when they
/// contradict each other.
void apply(const DeepSpeedPlanInput& input, const std::vector<std::string>& given, Recipe& recipe);

}  // namespace zerolab
