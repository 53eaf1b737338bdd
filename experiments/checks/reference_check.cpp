#include "experiments/checks/reference_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/compare/bits.h"

namespace zerolab {
namespace {

std::string unsound(const Evidence& run, int ranks, std::int64_t steps) {
  const std::string missing = what_is_missing(run, ranks, steps, true);
  return missing.empty() ? what_hides_faults(run.result) : missing;
}

/// A fingerprint of 0 is no fingerprint: each element of a tensor contributes, zeros too. Frozen
/// tensors have parameters only.
std::string blank_tensor(const Evidence& run, const ParameterLayout& layout) {
  for (const StepFingerprints& step : run.fingerprints) {
    for (std::size_t phase = 0; phase < step.values.size(); ++phase) {
      const auto& values = step.values[phase];
      if (!values.empty() && values.size() != layout.tensors().size()) {
        return fmt::format(
            "{} has {} fingerprints of the {} after step {}, the model has {} tensors",
            run.result.name, values.size(), kFingerprintPhases[phase], step.step,
            layout.tensors().size());
      }
      for (std::size_t t = 0; t < values.size(); ++t) {
        const TensorSpec& tensor = layout.tensor(static_cast<int>(t));
        if (values[t] != 0 || (tensor.frozen && phase != 1)) continue;
        return fmt::format("the fingerprint of {} in {} is blank in {} after step {}", tensor.name,
                           run.result.name, kFingerprintPhases[phase], step.step);
      }
    }
  }
  return "";
}

Finding finding(std::int64_t step, std::string phase, std::string message) {
  Finding found;
  found.check = "REF";
  found.step = step;
  found.phase = std::move(phase);
  found.message = std::move(message);
  return found;
}

std::vector<Finding> compare(const StageResult& reference, const StageResult& candidate,
                             const ParameterLayout& layout, std::int64_t steps, int ranks) {
  const Evidence a = evidence_of(reference);
  const Evidence b = evidence_of(candidate);
  for (const Evidence* run : {&a, &b}) {
    std::string reason =
        unsound(*run, run == &a ? static_cast<int>(a.result.ranks.size()) : ranks, steps);
    if (reason.empty()) reason = blank_tensor(*run, layout);
    if (reason.empty()) continue;
    return {finding(-1, "evidence", reason + "; such a run is not equal to any")};
  }
  std::vector<std::string> tensors;
  for (const TensorSpec& tensor : layout.tensors()) tensors.push_back(tensor.name);
  const auto difference = first_difference(a, b, tensors);
  if (!difference) return {};
  Finding found = finding(difference->step, difference->phase, difference->sentence);
  if (difference->tensor >= 0) found.tensor = layout.tensor(difference->tensor).name;
  return {found};
}

}  // namespace

std::string what_hides_faults(const StageResult& result) {
  const std::vector<RankResult>& ranks = result.ranks;
  const std::vector<StepRecord>& steps = result.steps();
  const auto reads_as_rank_0 = [&](const RankResult& rank) {
    for (std::size_t s = 0; s < steps.size(); ++s) {
      if (rank.steps[s].positions != steps[s].positions) return false;
    }
    return true;
  };
  if (ranks.size() > 1 && std::all_of(ranks.begin(), ranks.end(), reads_as_rank_0)) {
    return fmt::format("all ranks of {} read the same data, so a missing reduction changes nothing",
                       result.name);
  }
  for (const StepRecord& step : steps) {
    if (step.grad_norm == 0) {
      return fmt::format("the gradient of {} is zero in step {}", result.name, step.step);
    }
  }
  const std::vector<StepFingerprints> prints = result.fingerprints();
  for (std::size_t s = 0; s + 1 < prints.size() && s < steps.size(); ++s) {
    constexpr std::size_t kParameters = 1;
    if (steps[s].learning_rate > 0 && !steps[s].skipped &&
        prints[s].values.at(kParameters) == prints[s + 1].values.at(kParameters)) {
      return fmt::format("no parameter of {} changed in step {}, with a learning rate of {:g}",
                         result.name, steps[s].step, steps[s].learning_rate);
    }
  }
  return "";
}

std::vector<Finding> check_reference(const StageResult& reference, const StageResult& candidate,
                                     const ParameterLayout& layout, std::int64_t steps, int ranks) {
  if (&reference == &candidate) {
    return {
        finding(-1, "evidence",
                fmt::format("{} was compared with itself, which proves nothing", reference.name))};
  }
  if (ranks == 0) ranks = static_cast<int>(reference.ranks.size());
  try {
    return compare(reference, candidate, layout, steps, ranks);
  } catch (const std::exception& error) {
    // Ranks that recorded different steps or tensors cannot even be added up.
    return {finding(-1, "evidence", error.what())};
  }
}

}  // namespace zerolab
