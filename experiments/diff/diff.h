/// \file
/// Compares two run directories.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/compare/judge.h"
#include "experiments/diff/stored_run.h"

namespace zerolab {

/// How a stage of run A relates to one of run B.
struct StageDiff {
  std::string a, b;  ///< names of the two stages
  bool equal = false;
  std::string sentence;    ///< the first difference, or what was compared
  std::int64_t steps = 0;  ///< that both have
  LossDistance loss;       ///< over the steps that both have
};

struct RunDiff {
  std::vector<StageDiff> stages;
  std::vector<std::string> missing;  ///< stages that only one run has, a sentence each
  bool equal() const;                ///< every stage is in both runs and has the same bits
};

/// Losses, norms, rates, data positions and fingerprints, bit by bit. NaN, missing steps and empty
/// curves are never equal.
StageDiff diff_stages(const StoredStage& a, const StoredStage& b);

/// Stages are paired by name; two runs of one stage each are paired whatever they are.
/// \throws BadInput when a directory cannot be read, both are the same, or no stage can be paired.
RunDiff diff_runs(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace zerolab
