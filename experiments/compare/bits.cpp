#include "experiments/compare/bits.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace zerolab {
namespace {

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}
bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}
bool same_bits(const std::optional<double>& a, const std::optional<double>& b) {
  return a.has_value() == b.has_value() && (!a || same_bits(*a, *b));
}

std::string missing_in_rank(const StageResult& result, const RankResult& rank, std::int64_t steps) {
  const std::string who = fmt::format("rank {} of {}", rank.rank, result.name);
  if (static_cast<std::int64_t>(rank.steps.size()) != steps) {
    return fmt::format("{} reports {} steps instead of {}", who, rank.steps.size(), steps);
  }
  if (std::ranges::all_of(rank.steps, &StepRecord::skipped)) {
    return fmt::format("{} skipped all {} steps because the gradient was never finite", who, steps);
  }
  for (std::size_t i = 0; i < rank.steps.size(); ++i) {
    const StepRecord& step = rank.steps[i];
    const StepRecord& first = result.steps()[i];
    if (step.step != static_cast<std::int64_t>(i) + 1) {
      return fmt::format("{} reports step {} in place of step {}", who, step.step, i + 1);
    }
    const bool norm_is_sound = std::isfinite(step.grad_norm) || step.skipped;
    if (!std::isfinite(step.loss) || !norm_is_sound ||
        (step.held_out_loss && !std::isfinite(*step.held_out_loss))) {
      return fmt::format("{} has the loss {} and the gradient norm {} in step {}", who, step.loss,
                         step.grad_norm, step.step);
    }
    if (!same_bits(step.loss, first.loss) || !same_bits(step.grad_norm, first.grad_norm)) {
      return fmt::format(
          "{} has the loss {} and the gradient norm {} in step {}, rank 0 has {} "
          "and {}",
          who, step.loss, step.grad_norm, step.step, first.loss, first.grad_norm);
    }
  }
  return "";
}

bool all_zero(const std::vector<std::uint64_t>& values) {
  return std::ranges::all_of(values, [](std::uint64_t value) { return value == 0; });
}

std::string missing_fingerprints(const Evidence& run, std::int64_t steps) {
  const std::vector<StepFingerprints>& fingerprints = run.fingerprints;
  const std::string& name = run.result.name;
  // One before training and one for each step.
  const auto wanted = static_cast<std::size_t>(steps) + 1;
  if (fingerprints.size() != wanted) {
    return fmt::format("{} has fingerprints of {} moments instead of {}", name, fingerprints.size(),
                       wanted);
  }
  constexpr std::size_t kPhases = std::size(kFingerprintPhases);
  for (std::size_t s = 0; s < fingerprints.size(); ++s) {
    if (fingerprints[s].step != static_cast<std::int64_t>(s) ||
        fingerprints[s].values.size() != kPhases) {
      return fmt::format("the fingerprints of {} do not cover step {}", name, s);
    }
    // Before training there is no gradient, and SGD without momentum has no state.
    for (std::size_t phase = 0; phase < kPhases; ++phase) {
      const bool must_exist = phase == 1 || (phase == 0 && s > 0);
      if (must_exist && all_zero(fingerprints[s].values[phase])) {
        return fmt::format("the fingerprints of {} after step {} are blank in {}", name, s,
                           kFingerprintPhases[phase]);
      }
    }
  }
  return "";
}

/// All ranks' positions in step index `s`, sorted: what the step read, whoever read it.
std::vector<std::int64_t> read_by_anyone(const StageResult& result, std::size_t s) {
  std::vector<std::int64_t> all;
  for (const RankResult& rank : result.ranks) {
    all.insert(all.end(), rank.steps[s].positions.begin(), rank.steps[s].positions.end());
  }
  std::ranges::sort(all);
  return all;
}

std::optional<BitDifference> different_data(const StageResult& reference,
                                            const StageResult& candidate, std::size_t s) {
  const std::int64_t step = reference.steps()[s].step;
  const auto difference = [&](std::string sentence) {
    return BitDifference{step, "data", -1, std::move(sentence)};
  };
  // Runs on other numbers of ranks share out the same global batch in another way.
  if (reference.ranks.size() != candidate.ranks.size()) {
    if (read_by_anyone(reference, s) == read_by_anyone(candidate, s)) return std::nullopt;
    return difference(fmt::format("step {} read other data than the reference's", step));
  }
  for (std::size_t r = 0; r < reference.ranks.size(); ++r) {
    if (reference.ranks[r].steps[s].positions == candidate.ranks[r].steps[s].positions) continue;
    return difference(
        fmt::format("rank {} read other data in step {} than the reference's", r, step));
  }
  return std::nullopt;
}

std::optional<BitDifference> different_tensor(const StepFingerprints& reference,
                                              const StepFingerprints& candidate,
                                              const std::vector<std::string>& tensors) {
  for (std::size_t phase = 0; phase < std::size(kFingerprintPhases); ++phase) {
    const std::vector<std::uint64_t>& a = reference.values[phase];
    const std::vector<std::uint64_t>& b = candidate.values[phase];
    const std::string name = kFingerprintPhases[phase];
    if (a.size() != b.size()) {
      return BitDifference{reference.step, name, -1,
                           fmt::format("{} tensors of the {} were fingerprinted after step {}, {} "
                                       "in the reference",
                                       b.size(), name, reference.step, a.size())};
    }
    for (std::size_t t = 0; t < a.size(); ++t) {
      if (a[t] == b[t]) continue;
      return BitDifference{reference.step, name, static_cast<int>(t),
                           fmt::format("the {} {} step {} differ first in {}", name,
                                       phase == 0 ? "of" : "after", reference.step, tensors.at(t))};
    }
  }
  return std::nullopt;
}

std::optional<BitDifference> different_record(const StepRecord& a, const StepRecord& b) {
  const auto difference = [&](const char* phase, const char* what, auto value, auto reference) {
    return BitDifference{a.step, phase, -1,
                         fmt::format("the {} of step {} is {}, the reference's is {}", what, a.step,
                                     value, reference)};
  };
  if (!same_bits(a.loss, b.loss)) return difference("loss", "loss", b.loss, a.loss);
  if (!same_bits(a.grad_norm, b.grad_norm)) {
    return difference("norm", "gradient norm", b.grad_norm, a.grad_norm);
  }
  if (!same_bits(a.factor, b.factor)) {
    return difference("norm", "factor of the gradient", b.factor, a.factor);
  }
  if (!same_bits(a.loss_scale, b.loss_scale)) {
    return difference("schedule", "loss scale", b.loss_scale, a.loss_scale);
  }
  if (!same_bits(a.learning_rate, b.learning_rate)) {
    return difference("schedule", "learning rate", b.learning_rate, a.learning_rate);
  }
  if (a.held_out_loss.has_value() != b.held_out_loss.has_value()) {
    return BitDifference{a.step, "held_out_loss", -1,
                         fmt::format("one run only has a held-out loss of step {}", a.step)};
  }
  if (!same_bits(a.held_out_loss, b.held_out_loss)) {
    return difference("held_out_loss", "held-out loss", *b.held_out_loss, *a.held_out_loss);
  }
  return std::nullopt;
}

}  // namespace

Evidence evidence_of(const StageResult& result) {
  if (result.ranks.empty()) return {result, {}};
  return {result, result.fingerprints()};
}

std::string what_is_missing(const Evidence& run, int ranks, std::int64_t steps,
                            bool with_fingerprints) {
  const StageResult& result = run.result;
  if (static_cast<int>(result.ranks.size()) != ranks) {
    return fmt::format("{} ranks of {} reported instead of {}", result.ranks.size(), result.name,
                       ranks);
  }
  if (steps < 1) return fmt::format("{} trained no step", result.name);
  for (std::size_t r = 0; r < result.ranks.size(); ++r) {
    if (result.ranks[r].rank != static_cast<int>(r)) {
      return fmt::format("rank {} of {} reported in place of rank {}", result.ranks[r].rank,
                         result.name, r);
    }
    const std::string missing = missing_in_rank(result, result.ranks[r], steps);
    if (!missing.empty()) return missing;
  }
  return with_fingerprints ? missing_fingerprints(run, steps) : "";
}

std::optional<BitDifference> first_difference(const Evidence& reference, const Evidence& candidate,
                                              const std::vector<std::string>& tensors) {
  const std::vector<StepFingerprints>& a = reference.fingerprints;
  const std::vector<StepFingerprints>& b = candidate.fingerprints;
  const bool fingerprints = !a.empty() && !b.empty();
  if (fingerprints) {
    if (auto found = different_tensor(a.front(), b.front(), tensors)) return found;
  }
  for (std::size_t s = 0; s < reference.result.steps().size(); ++s) {
    if (auto found = different_data(reference.result, candidate.result, s)) return found;
    if (fingerprints) {
      if (auto found = different_tensor(a[s + 1], b[s + 1], tensors)) return found;
    }
    if (auto found = different_record(reference.result.steps()[s], candidate.result.steps()[s])) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace zerolab
