/// \file
/// STAGE/steps.jsonl: one object a training step.
#pragma once

#include <filesystem>
#include <vector>

#include "experiments/runner/results.h"

namespace zerolab {

struct StepLine {
  StepRecord record;  ///< `seconds` of the slowest rank; `positions` empty
  /// Where each rank's sequences start in the data, so that any step can be recomputed elsewhere.
  std::vector<std::vector<std::int64_t>> positions;
};

/// \throws Failure (disk full, …); nothing is left under the name then.
void write_steps(const std::filesystem::path& path, const StageResult& result);

/// \throws BadInput naming file, line and key.
std::vector<StepLine> read_steps(const std::filesystem::path& path);

}  // namespace zerolab
