#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/report/html.h"
#include "experiments/report/html_sections.h"
#include "experiments/report/stage_numbers.h"
#include "experiments/report/verdict_text.h"
#include "experiments/report/words.h"

namespace zerolab {
namespace {

/// The word and a sign, so that the colour is not needed.
std::string badge(Verdict verdict) {
  const char* sign = verdict == Verdict::kEqual ? "=" : verdict == Verdict::kDiverged ? "≠" : "≈";
  return fmt::format("<span class=\"badge {}\">{} {}</span>", name_of(verdict), sign,
                     spoken(name_of(verdict)));
}

/// Measured, and whether it is what the formula says to the byte.
Cell against(const std::string& measured, bool equal, bool predicted, bool nominal = false) {
  if (nominal) return number(measured + " <span class=\"note\">nominal</span>");
  if (!predicted) return number(measured);
  return {fmt::format("{} <span class=\"{}\">{}</span>", measured, equal ? "good" : "bad",
                      equal ? "= formula" : "≠ formula"),
          "number"};
}

std::string last_of(const StageResult& result, bool norm) {
  if (result.steps().empty()) return "–";
  const StepRecord& last = result.steps().back();
  return loss_text(norm ? static_cast<double>(last.grad_norm) : last.loss);
}

void add_row(HtmlTable& table, const Comparison& comparison, const StageComparison& stage) {
  const StageResult& result = stage.result;
  const RankResult& largest = result.ranks[largest_rank(result)];
  const RankResult& busiest = result.ranks[busiest_rank(result)];
  const bool predicted = !stage.predicted.empty();
  const CheckCount checks = checks_passed(comparison, stage);
  const auto held_out = final_held_out_loss(result);
  const bool reference = stage.compared_with.empty();
  table.row({{escaped(result.name), ""},
             {reference && stage.verdict == Verdict::kEqual
                  ? fmt::format("<span class=\"badge reference\">{}</span>",
                                comparison.stages.size() == 1 ? "trained" : "reference")
                  : badge(stage.verdict),
              ""},
             number(last_of(result, false)),
             number(held_out ? loss_text(*held_out) : "–"),
             number(last_of(result, true)),
             against(bytes_text(largest.peak_bytes), memory_as_predicted(stage), predicted),
             against(bytes_text(std::llround(sent_per_step(busiest))), traffic_as_predicted(stage),
                     predicted, comparison.config.reduction == Reduction::kNative),
             number(grouped(std::llround(throughput(result).tokens_per_second))),
             {checks.run == 0 ? "–" : fmt::format("{} of {}", checks.passed, checks.run),
              checks.passed == checks.run ? "number" : "number bad"}});
}

std::string evidence(const Comparison& comparison, const StageComparison& stage) {
  std::string html =
      fmt::format("<div class=\"callout {}\"><h3>{}: {}</h3><p>{}</p>", name_of(stage.verdict),
                  escaped(stage.result.name), badge(stage.verdict), escaped(stage.reason));
  if (stage.first_divergence) {
    const Divergence& d = *stage.first_divergence;
    html += fmt::format("<p>{}</p>", escaped(divergence_text(stage, comparison.reference)));
    if (d.element < 0) return html + "</div>\n";
    HtmlTable table(
        "Where the bits first differ",
        {number("step"),
         {"phase", ""},
         {"tensor", ""},
         number("rank"),
         number("element"),
         number(escaped(stage.compared_with.empty() ? comparison.reference : stage.compared_with)),
         number(escaped(stage.result.name)),
         number("ULP"),
         number("elements that differ")});
    table.row({number(grouped(d.step)),
               {escaped(spoken(d.phase)), ""},
               {fmt::format("<code>{}</code>", escaped(d.tensor)), ""},
               number(fmt::format("{}", d.rank)),
               number(grouped(d.element)),
               number(fmt::format("{:.9g}", d.reference_value)),
               number(fmt::format("{:.9g}", d.value)),
               number(grouped(d.ulp)),
               number(grouped(d.differing_elements))});
    html += table.html();
  }
  return html + "</div>\n";
}

/// More go where they can be folded away.
constexpr std::size_t kFindingsShown = 6;

std::string finding_item(const FindingGroup& group) {
  const std::string place = place_of(group.first);
  const std::string values = values_of(group.first);
  std::string html = fmt::format("<li><strong>{}</strong>", escaped(group.first.check));
  if (!place.empty()) html += fmt::format(" <span class=\"place\">{}</span>", escaped(place));
  html += " " + escaped(group.first.message);
  if (!values.empty()) html += fmt::format(" <span class=\"note\">{}</span>", escaped(values));
  if (group.count > 1) {
    html += fmt::format(" <span class=\"note\">and {} more like it</span>", group.count - 1);
  }
  return html + "</li>\n";
}

}  // namespace

std::string verdict_section(const Comparison& comparison) {
  std::string html =
      fmt::format("<p class=\"headline {}\">{} {}</p>\n", name_of(comparison.verdict),
                  badge(comparison.verdict), escaped(headline(comparison)));
  for (const std::string& notice : comparison.notices) {
    html += fmt::format("<p class=\"notice\">{}</p>\n", escaped(notice));
  }
  HtmlTable table("", {{"stage", ""},
                       {"verdict", ""},
                       number("final loss"),
                       number("held-out loss"),
                       number("gradient norm"),
                       number("held, largest rank"),
                       number("sent a step"),
                       number("tokens/s"),
                       number("checks passed")});
  for (const StageComparison& stage : comparison.stages) add_row(table, comparison, stage);
  html += table.html();
  for (const StageComparison& stage : comparison.stages) {
    const bool quiet = stage.verdict == Verdict::kEqual && !stage.first_divergence;
    if (!quiet) html += evidence(comparison, stage);
  }
  return html;
}

std::string findings_section(const Comparison& comparison) {
  std::string html;
  for (const StageComparison& stage : comparison.stages) {
    if (stage.findings.empty()) continue;
    html += fmt::format("<h3>{}</h3>\n", escaped(stage.result.name));
    const std::vector<FindingGroup> groups = grouped_findings(stage.findings);
    std::string first, rest;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      (i < kFindingsShown ? first : rest) += finding_item(groups[i]);
    }
    html += fmt::format("<ul class=\"findings\">\n{}</ul>\n", first);
    if (rest.empty()) continue;
    html += fmt::format(
        "<details><summary>{} more</summary><ul class=\"findings\">\n{}</ul>"
        "</details>\n",
        groups.size() - kFindingsShown, rest);
  }
  if (!html.empty()) return html;
  std::string checks;
  for (const std::string& check : comparison.config.checks) {
    const bool ran = std::ranges::any_of(comparison.stages, [&](const StageComparison& stage) {
      return std::ranges::count(checks_run(comparison, stage), check) > 0;
    });
    if (ran) checks += (checks.empty() ? "" : ", ") + check;
  }
  if (checks.empty()) return "<p>No checks were run.</p>\n";
  return fmt::format("<p>None: {} found nothing wrong in any stage.</p>\n", escaped(checks));
}

}  // namespace zerolab
