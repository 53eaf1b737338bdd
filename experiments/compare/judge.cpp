#include "experiments/compare/judge.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "experiments/checks/reference_check.h"
#include "experiments/compare/envelope.h"

namespace zerolab {
namespace {

Judgement diverged(std::string reason, std::optional<BitDifference> difference = std::nullopt) {
  return {Verdict::kDiverged, std::move(reason), std::move(difference)};
}

/// A finding of any check ends the hope for a good verdict.
std::optional<Judgement> judge_findings(const StageResult& result) {
  const std::vector<Finding> findings = result.findings();
  if (findings.empty()) return std::nullopt;
  return diverged(fmt::format("{}: {}", findings.front().check, findings.front().message));
}

/// Why the run is not to be believed; empty when it is sound.
std::string unsound(const StageResult& result, const Terms& terms) {
  const std::string missing =
      what_is_missing(evidence_of(result), terms.ranks, terms.steps, terms.fingerprints);
  if (!missing.empty() || !terms.fingerprints) return missing;
  return what_hides_faults(result);
}

/// Whether every rank has every step, whatever is in it.
bool has_shape(const StageResult& result, const Terms& terms) {
  const auto steps = static_cast<std::size_t>(terms.steps);
  return static_cast<int>(result.ranks.size()) == terms.ranks &&
         std::ranges::all_of(result.ranks, [&](const RankResult& rank) {
           return rank.steps.size() == steps &&
                  (!terms.fingerprints || rank.fingerprints.size() == steps + 1);
         });
}

std::string compared(const Terms& terms) {
  return terms.fingerprints ? "losses, norms and fingerprints of all steps have the same bits"
                            : "losses and norms have the same bits; fingerprints were not taken";
}

}  // namespace

Judgement judge_reference(const StageResult& reference, const Terms& terms) {
  // Findings first: they say why a run broke off.
  if (auto found = judge_findings(reference)) return *found;
  const std::string missing = unsound(reference, terms);
  if (!missing.empty()) return diverged(missing);
  return {Verdict::kEqual, "the reference", std::nullopt};
}

Judgement judge_bits(const StageResult& reference, const StageResult& candidate,
                     const Terms& terms) {
  std::optional<Judgement> findings = judge_findings(candidate);
  if (const std::string missing = unsound(candidate, terms); !missing.empty()) {
    Judgement judgement = findings ? *findings : diverged(missing);
    // A curve that ends in NaN has a place where it left the reference.
    if (has_shape(candidate, terms) && unsound(reference, terms).empty()) {
      judgement.difference =
          first_difference(evidence_of(reference), evidence_of(candidate), terms.tensors);
    }
    return judgement;
  }
  if (const std::string missing = unsound(reference, terms); !missing.empty()) {
    return diverged(fmt::format("there is nothing to compare with: {}", missing));
  }
  std::optional<BitDifference> difference =
      first_difference(evidence_of(reference), evidence_of(candidate), terms.tensors);
  if (difference) {
    std::string sentence = difference->sentence;
    return diverged(std::move(sentence), std::move(difference));
  }
  if (findings) return *findings;
  return {Verdict::kEqual, compared(terms), std::nullopt};
}

Judgement judge_noise(const StageResult& reference, const StageResult& candidate,
                      const std::vector<std::vector<StepRecord>>& clean, const Terms& terms,
                      Judgement bits) {
  if (bits.verdict == Verdict::kEqual || !bits.difference || judge_findings(candidate)) return bits;
  const double first = reference.steps().front().loss;
  const double own = candidate.steps().front().loss;
  if (std::bit_cast<std::uint64_t>(first) != std::bit_cast<std::uint64_t>(own)) {
    bits.reason = fmt::format(
        "the loss of step 1 is {}, the reference's is {}, although nothing "
        "has been reduced before it",
        own, first);
    return bits;
  }
  const std::string outside = Envelope(clean).outside(reference.steps(), candidate.steps());
  if (!outside.empty()) {
    bits.reason = outside;
    return bits;
  }
  return {Verdict::kWithinNoise,
          fmt::format("{}; inside the envelope of {} clean runs in other orders{}",
                      largest_distance(reference, candidate), clean.size() - 1,
                      terms.bounds ? " and the rounding bound" : ""),
          std::move(bits.difference)};
}

Verdict worse(Verdict a, Verdict b) { return std::max(a, b); }

LossDistance loss_distance(const std::vector<StepRecord>& a, const std::vector<StepRecord>& b) {
  LossDistance found;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double distance = std::abs(a[i].loss - b[i].loss);
    if (distance <= found.largest) continue;  // a NaN is reported
    found = {distance, a[i].step};
    if (std::isnan(distance)) break;
  }
  return found;
}

std::string largest_distance(const StageResult& reference, const StageResult& run) {
  return largest_distance(reference.name + "'s", loss_distance(reference.steps(), run.steps()));
}

std::string largest_distance(const std::string& whose, const LossDistance& distance) {
  if (distance.step == 0) return fmt::format("its losses have the bits of {}", whose);
  return fmt::format("its loss differs from {} by at most {:.2g} (step {})", whose,
                     distance.largest, distance.step);
}

}  // namespace zerolab
