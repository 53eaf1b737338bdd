#include "experiments/report/verdict_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <tuple>

#include "experiments/config/asks_for.h"
#include "experiments/report/stage_numbers.h"
#include "experiments/report/words.h"

namespace zerolab {
namespace {

/// "a", "a and b", "a, b and c"
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += i == 0 ? "" : i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

/// The stages with this verdict, grouped by what they were compared with:
/// "zero1 and zero2 SAY ddp, and zero1.local ddp.local".
std::string claims(const Comparison& comparison, Verdict verdict, const std::string& say) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const StageComparison& stage : comparison.stages) {
    if (stage.compared_with.empty() || stage.verdict != verdict) continue;
    auto group = std::ranges::find(groups, stage.compared_with,
                                   [](const auto& entry) { return entry.first; });
    if (group == groups.end()) group = groups.insert(groups.end(), {stage.compared_with, {}});
    group->second.push_back(stage.result.name);
  }
  std::string text;
  for (const auto& [reference, names] : groups) {
    text += text.empty() ? fmt::format("{} {} {}", listed(names), say, reference)
                         : fmt::format(", and {} as {}", listed(names), reference);
  }
  return text;
}

/// All digits that matter: enough to round-trip an fp32.
std::string value_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return fmt::format("{:.9g}", value);
}

}  // namespace

std::string headline(const Comparison& comparison) {
  const std::string run =
      fmt::format("{}, {}, {}", comparison.config.model, counted(comparison.config.ranks, "rank"),
                  counted(comparison.config.steps, "step"));
  const std::string diverged =
      claims(comparison, Verdict::kDiverged, "did not train the same model as");
  if (!diverged.empty()) return fmt::format("Diverged: {} ({}).", diverged, run);
  // Without an unequal stage only a check can have decided.
  if (comparison.verdict == Verdict::kDiverged) {
    return fmt::format("Diverged: a check found something wrong ({}).", run);
  }
  if (std::ranges::all_of(comparison.stages, &std::string::empty,
                          &StageComparison::compared_with)) {
    const std::vector<std::string> checks = checks_run(comparison, comparison.stages.front());
    return checks.empty()
               ? fmt::format("Trained: {}, without checks ({}).", comparison.reference, run)
               : fmt::format("Clean: {} trained, and {} found nothing wrong ({}).",
                             comparison.reference, listed(checks), run);
  }
  std::string text;
  const auto add = [&](Verdict verdict, const char* say, const char* after) {
    const std::string claim = claims(comparison, verdict, say);
    if (!claim.empty()) text += fmt::format("{}{}{}", text.empty() ? "" : "; ", claim, after);
  };
  if (asks_for(comparison.config, "REF")) {
    add(Verdict::kEqual, "trained the same model as", ", to the last bit");
  } else {
    add(Verdict::kEqual, "had the losses and norms of",
        ", to the last bit; without REF no gradient or parameter was compared");
  }
  add(Verdict::kExplained, "trained the same model, but for a named difference, as", "");
  add(Verdict::kWithinNoise, "stayed within the noise of rounding around", "");
  std::string word = spoken(name_of(comparison.verdict));
  word.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(word.front())));
  return fmt::format("{}: {} ({}).", word, text, run);
}

std::string divergence_text(const StageComparison& stage, const std::string& reference) {
  const Divergence& d = *stage.first_divergence;
  if (d.element < 0) return d.sentence;  // a loss, a norm, the data: no tensor has the place
  std::string text = fmt::format(
      "{} first differs from {} at step {} in the {} of {}: element {}, owned by rank {}, is {} "
      "where {} has {}",
      stage.result.name, stage.compared_with.empty() ? reference : stage.compared_with, d.step,
      spoken(d.phase), d.tensor, grouped(d.element), d.rank,
      value_text(static_cast<double>(d.value)),
      stage.compared_with.empty() ? reference : stage.compared_with,
      value_text(static_cast<double>(d.reference_value)));
  text += d.ulp >= 0 ? fmt::format(" ({} ULP apart)", grouped(d.ulp)) : std::string();
  if (d.differing_elements > 0) {
    text += fmt::format("; {} of the tensor {}", counted(d.differing_elements, "element"),
                        d.differing_elements == 1 ? "differs" : "differ");
  }
  return text + ".";
}

std::string place_of(const Finding& finding) {
  std::vector<std::string> parts;
  if (finding.step >= 0) parts.push_back(fmt::format("step {}", finding.step));
  std::string subject = spoken(finding.phase);
  if (!finding.tensor.empty()) {
    subject += subject.empty() ? finding.tensor : " of " + finding.tensor;
  }
  if (!subject.empty()) parts.push_back(subject);
  if (finding.rank >= 0) parts.push_back(fmt::format("rank {}", finding.rank));
  if (finding.element >= 0) parts.push_back(fmt::format("element {}", grouped(finding.element)));
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string values_of(const Finding& finding) {
  std::string text;
  if (finding.expected) text = "expected " + value_text(*finding.expected);
  if (finding.value) {
    text += (text.empty() ? "" : ", ") + std::string("found ") + value_text(*finding.value);
  }
  if (!text.empty() && finding.ulp >= 0) {
    text += fmt::format(" ({} ULP apart)", grouped(finding.ulp));
  }
  return text;
}

std::string finding_text(const Finding& finding) {
  const std::string place = place_of(finding);
  std::string text = finding.check;
  if (!place.empty()) text += ", " + place;
  text += ": " + finding.message;
  const std::string values = values_of(finding);
  return values.empty() ? text : fmt::format("{} [{}]", text, values);
}

std::vector<FindingGroup> grouped_findings(const std::vector<Finding>& findings) {
  std::vector<FindingGroup> groups;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> places;
  for (const Finding& finding : findings) {
    const auto [place, fresh] =
        places.try_emplace({finding.check, finding.phase, finding.tensor}, groups.size());
    if (fresh) {
      groups.push_back({finding, 1});
    } else {
      ++groups[place->second].count;
    }
  }
  return groups;
}

}  // namespace zerolab
