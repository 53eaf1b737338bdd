#include "experiments/diff/diff.h"

#include <algorithm>

#include "experiments/compare/bits.h"
#include "experiments/report/words.h"
#include "stages/core/error.h"
#include "stages/core/join.h"

namespace zerolab {
namespace {

namespace fs = std::filesystem;

std::int64_t step_count(const StageResult& result) {
  return static_cast<std::int64_t>(result.steps().size());
}

Evidence evidence(const StoredStage& stage, bool fingerprints) {
  return {stage.result, fingerprints ? stage.fingerprints : std::vector<StepFingerprints>()};
}

/// The first `steps` steps. A run's last step has a held-out loss because it is the last.
StoredStage shortened(const StoredStage& stage, std::int64_t steps, bool with_last_held_out) {
  StoredStage prefix = stage;
  for (RankResult& rank : prefix.result.ranks) {
    rank.steps.resize(static_cast<std::size_t>(steps));
    if (!with_last_held_out && steps > 0) rank.steps.back().held_out_loss.reset();
  }
  std::erase_if(prefix.fingerprints, [&](const StepFingerprints& f) { return f.step > steps; });
  return prefix;
}

/// The first difference in one sentence; empty when there is none.
std::string difference(const StoredStage& a, const StoredStage& b, std::int64_t steps) {
  const bool fingerprints = a.has_fingerprints() && b.has_fingerprints();
  if (fingerprints && a.tensors != b.tensors) {
    return "the two runs trained models with different tensors";
  }
  for (const StoredStage* stage : {&a, &b}) {
    const std::string sentence = what_is_missing(evidence(*stage, fingerprints),
                                                 static_cast<int>(stage->result.ranks.size()),
                                                 step_count(stage->result), fingerprints);
    if (!sentence.empty()) return fmt::format("{} ({})", sentence, stage->path.string());
  }
  const bool equally_long = step_count(a.result) == step_count(b.result);
  const StoredStage prefix_a = shortened(a, steps, equally_long);
  const StoredStage prefix_b = shortened(b, steps, equally_long);
  if (auto found = first_difference(evidence(prefix_a, fingerprints),
                                    evidence(prefix_b, fingerprints), a.tensors)) {
    return found->sentence;
  }
  if (!equally_long) {
    return fmt::format("{} has {}, {} has {}; the steps that both have are equal", a.path.string(),
                       counted(step_count(a.result), "step"), b.path.string(),
                       counted(step_count(b.result), "step"));
  }
  return "";
}

std::string names(const std::vector<StoredStage>& run) {
  std::vector<std::string> all;
  for (const StoredStage& stage : run) all.push_back(stage.name());
  return joined(all);
}

void note_missing(RunDiff& diff, const std::vector<StoredStage>& in,
                  const std::vector<StoredStage>& from, const fs::path& from_path) {
  for (const StoredStage& stage : in) {
    if (named(from, stage.name()) == nullptr) {
      diff.missing.push_back(fmt::format("{} has no {}", from_path.string(), stage.name()));
    }
  }
}

}  // namespace

bool RunDiff::equal() const {
  return !stages.empty() && missing.empty() && std::ranges::all_of(stages, &StageDiff::equal);
}

StageDiff diff_stages(const StoredStage& a, const StoredStage& b) {
  StageDiff diff;
  diff.a = a.name();
  diff.b = b.name();
  diff.steps = std::min(step_count(a.result), step_count(b.result));
  diff.loss = loss_distance(a.result.steps(), b.result.steps());
  diff.sentence = difference(a, b, diff.steps);
  diff.equal = diff.sentence.empty();
  if (diff.equal) {
    diff.sentence = a.has_fingerprints() && b.has_fingerprints()
                        ? "losses and fingerprints have the same bits"
                        : "losses and norms have the same bits; one run has no fingerprints";
  }
  return diff;
}

RunDiff diff_runs(const fs::path& a, const fs::path& b) {
  const std::vector<StoredStage> run_a = read_stored_run(a);
  const std::vector<StoredStage> run_b = read_stored_run(b);
  if (fs::equivalent(a, b)) {
    bad_input("[diff] {} and {} are the same directory; name two runs", a.string(), b.string());
  }
  RunDiff diff;
  if (run_a.size() == 1 && run_b.size() == 1) {
    diff.stages.push_back(diff_stages(run_a.front(), run_b.front()));
    return diff;
  }
  for (const StoredStage& stage : run_a) {
    const StoredStage* other = named(run_b, stage.name());
    if (other != nullptr) diff.stages.push_back(diff_stages(stage, *other));
  }
  if (diff.stages.empty()) {
    bad_input(
        "[diff] the two runs have no stage in common ({}; {}); name one stage's directory of "
        "each, such as runs/001/ddp",
        names(run_a), names(run_b));
  }
  note_missing(diff, run_a, run_b, b);
  note_missing(diff, run_b, run_a, a);
  return diff;
}

}  // namespace zerolab
