#include "experiments/compare/fault_outcome.h"

#include <algorithm>
#include <optional>

#include "experiments/config/asks_for.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

/// What a check said first about a stage.
struct Saying {
  std::string check;
  std::int64_t step;
  std::string phase, tensor;
  int rank;
  std::string sentence;

  /// A wrong value must be placed in a tensor and on a rank; where a run was repeated with another
  /// cut, no rank of the one has its like in the other.
  bool is_placed() const {
    const bool value = phase == "gradients" || phase == "parameters" || phase == "optimizer_state";
    const bool repeated = check == "IG" || check == "REP";
    return !value || (!tensor.empty() && (rank >= 0 || repeated));
  }
};

std::optional<Saying> first_saying(const StageComparison& stage, const std::string& check) {
  if (check == "REF") {
    if (!stage.first_divergence) return std::nullopt;
    const Divergence& first = *stage.first_divergence;
    return Saying{check,        first.step, first.phase,
                  first.tensor, first.rank, stage.reason + "; " + first.sentence};
  }
  const auto found = std::ranges::find(stage.findings, check, &Finding::check);
  if (found == stage.findings.end()) return std::nullopt;
  return Saying{check, found->step, found->phase, found->tensor, found->rank, found->message};
}

DetectorOutcome outcome_of_detector(const Comparison& comparison, const StageComparison& stage,
                                    const ExpectedFinding& expected) {
  DetectorOutcome outcome;
  outcome.expected = expected;
  outcome.asked = asks_for(comparison.config, expected.check);
  const std::optional<Saying> saying = first_saying(stage, expected.check);
  outcome.fired = saying.has_value();
  if (!saying) return outcome;
  const bool step = expected.step < 0 || saying->step == expected.step;
  const bool phase = expected.phase.empty() || saying->phase == expected.phase;
  outcome.localised = step && phase && saying->is_placed() &&
                      saying->sentence.find(expected.names) != std::string::npos;
  outcome.said = saying->sentence;
  return outcome;
}

}  // namespace

bool FaultOutcome::caught() const {
  const auto right = [](const DetectorOutcome& detector) {
    return detector.fired && detector.localised;
  };
  return !expected.empty() && std::ranges::all_of(expected, right) && false_alarms.empty();
}

FaultOutcome outcome_of(const Comparison& comparison, const FaultLabel& label) {
  FaultOutcome outcome;
  outcome.label = label;
  bool met = false;
  for (const StageComparison& stage : comparison.stages) {
    if (stage.result.stage != label.stage) {
      if (stage.verdict == Verdict::kDiverged) {
        outcome.false_alarms.push_back(fmt::format("{}: {}", stage.result.name, stage.reason));
      }
      continue;
    }
    met = true;
    for (const ExpectedFinding& expected : label.must_fire) {
      outcome.expected.push_back(outcome_of_detector(comparison, stage, expected));
    }
    for (const std::string& check : comparison.config.checks) {
      const bool listed = std::ranges::find(label.must_fire, check, &ExpectedFinding::check) !=
                          label.must_fire.end();
      if (!listed && first_saying(stage, check)) outcome.others.push_back(check);
    }
  }
  require(met, "[faults] {} is a fault of {}, which was not run", label.name, label.stage);
  return outcome;
}

}  // namespace zerolab
