#include "experiments/diff/stored_run.h"

#include <algorithm>

#include "experiments/report/fingerprints_file.h"
#include "experiments/report/steps_file.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSteps = "steps.jsonl";
constexpr const char* kFingerprints = "fingerprints.jsonl";

/// "runs/003/zero1/" is the directory zero1.
std::string stage_name(const fs::path& directory) {
  const fs::path path = fs::absolute(directory).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

}  // namespace

StoredStage read_stored_stage(const fs::path& directory) {
  StoredStage stage;
  stage.path = directory;
  stage.result.name = stage.result.stage = stage_name(directory);
  const std::vector<StepLine> lines = read_steps(directory / kSteps);
  // A run that trained no step does not say how many ranks it had.
  stage.result.ranks.resize(lines.empty() ? 1 : lines.front().positions.size());
  if (stage.result.ranks.empty()) {
    bad_input(
        "[diff] {}: no rank's positions are recorded; the file was changed or written by "
        "another version",
        (directory / kSteps).string());
  }
  for (std::size_t r = 0; r < stage.result.ranks.size(); ++r) {
    stage.result.ranks[r].rank = static_cast<int>(r);
    for (const StepLine& line : lines) {
      stage.result.ranks[r].steps.push_back(line.record);
      stage.result.ranks[r].steps.back().positions = line.positions[r];
    }
  }
  if (fs::exists(directory / kFingerprints)) {
    FingerprintFile file = read_fingerprints(directory / kFingerprints);
    stage.tensors = std::move(file.tensors);
    stage.fingerprints = std::move(file.steps);
    if (stage.fingerprints.empty() || stage.tensors.empty()) {
      bad_input("[diff] {} holds no fingerprint, which no run writes; take the run again",
                (directory / kFingerprints).string());
    }
  }
  return stage;
}

std::vector<StoredStage> read_stored_run(const fs::path& directory) {
  if (!fs::is_directory(directory)) {
    bad_input("[diff] {} is not a directory; name a run directory, such as runs/001",
              directory.string());
  }
  if (fs::exists(directory / kSteps)) return {read_stored_stage(directory)};
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    if (fs::exists(entry.path() / kSteps)) found.push_back(entry.path());
  }
  if (found.empty()) {
    bad_input("[diff] {} holds no {}; name a run directory, such as runs/001", directory.string(),
              kSteps);
  }
  std::ranges::sort(found);
  std::vector<StoredStage> stages;
  for (const fs::path& path : found) stages.push_back(read_stored_stage(path));
  return stages;
}

const StoredStage* named(const std::vector<StoredStage>& run, const std::string& name) {
  const auto found = std::ranges::find(run, name, &StoredStage::name);
  return found == run.end() ? nullptr : &*found;
}

}  // namespace zerolab
