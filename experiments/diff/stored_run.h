/// \file
/// A run directory, read back.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/runner/results.h"

namespace zerolab {

/// One stage of a run as its files tell it.
struct StoredStage {
  std::filesystem::path path;  ///< "runs/003/zero1"
  StageResult result;          ///< steps and positions by rank
  std::vector<StepFingerprints> fingerprints;
  std::vector<std::string> tensors;  ///< of the fingerprints; empty without them

  const std::string& name() const { return result.name; }
  bool has_fingerprints() const { return !tensors.empty(); }
};

/// Reads STAGE/steps.jsonl and STAGE/fingerprints.jsonl (which may be missing: --check without
/// REF). \throws BadInput naming file and line when a file is missing, corrupt or cut short.
StoredStage read_stored_stage(const std::filesystem::path& directory);

/// The stages of a run directory in alphabetical order, or the one stage that `directory` itself
/// is. \throws BadInput as above, and when there is no stage.
std::vector<StoredStage> read_stored_run(const std::filesystem::path& directory);

/// The stage of that name; nullptr when the run has none.
const StoredStage* named(const std::vector<StoredStage>& run, const std::string& name);

}  // namespace zerolab
