#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments/report/html.h"
#include "experiments/report/html_sections.h"
#include "experiments/report/picture.h"
#include "experiments/report/stage_numbers.h"
#include "experiments/report/words.h"

namespace zerolab {
namespace {

constexpr std::string_view kFormula =
    "A green = says that the bytes equal the closed formula on every rank, to the byte.";

/// "12,345 =" when measured and predicted agree, else both.
Cell compared(std::int64_t measured, const std::int64_t* predicted) {
  if (measured == 0 && (!predicted || *predicted == 0)) return number("–");
  if (!predicted) return number(grouped(measured));
  if (measured == *predicted) {
    return number(grouped(measured) + " <span class=\"good\">=</span>");
  }
  return number(
      fmt::format("{} <span class=\"bad\">≠ {}</span>", grouped(measured), grouped(*predicted)));
}

const Prediction* prediction(const StageComparison& stage, std::size_t rank) {
  return rank < stage.predicted.size() ? &stage.predicted[rank] : nullptr;
}

std::vector<Cell> header(const Comparison& comparison, const char* first) {
  std::vector<Cell> names = {{first, ""}};
  for (const StageComparison& stage : comparison.stages) {
    names.push_back(number(escaped(stage.result.name)));
  }
  return names;
}

/// One row over all stages; `measured` and `formula` pick the figure from a rank and its
/// prediction.
template <class Measured, class Formula>
std::vector<Cell> memory_row(const Comparison& comparison, const std::string& name,
                             Measured&& measured, Formula&& formula) {
  std::vector<Cell> cells = {{name, ""}};
  for (const StageComparison& stage : comparison.stages) {
    const std::size_t rank = largest_rank(stage.result);
    const Prediction* predicted = prediction(stage, rank);
    const std::int64_t expected = predicted ? formula(*predicted) : 0;
    cells.push_back(compared(measured(stage.result.ranks[rank]), predicted ? &expected : nullptr));
  }
  return cells;
}

/// Bytes a step; a whole number unless a fault made steps unequal.
std::string per_step(std::int64_t total, std::size_t steps) {
  if (steps == 0) return "0";
  const auto count = static_cast<std::int64_t>(steps);
  return total % count == 0
             ? grouped(total / count)
             : "≈ " +
                   grouped(std::llround(static_cast<double>(total) / static_cast<double>(count)));
}

Cell traffic_cell(const StageComparison& stage, Traffic traffic, std::size_t op, bool nominal) {
  const std::size_t busiest = busiest_rank(stage.result);
  const RankResult& rank = stage.result.ranks[busiest];
  const Volume& volume = rank.training_volume[static_cast<std::size_t>(traffic)][op];
  const Prediction* predicted = prediction(stage, busiest);
  const Volume formula =
      predicted ? predicted->per_step[static_cast<std::size_t>(traffic)][op] : Volume{};
  if (volume == Volume{} && formula == Volume{}) return number("–");
  const auto steps = static_cast<std::int64_t>(rank.steps.size());
  std::string html = per_step(volume.sent(), rank.steps.size());
  if (nominal) {
    html += " <span class=\"note\">nominal</span>";
  } else if (predicted && volume.sent() == steps * formula.sent()) {
    html += " <span class=\"good\">=</span>";
  } else if (predicted) {
    html += fmt::format(" <span class=\"bad\">≠ {}</span>", grouped(formula.sent()));
  }
  const std::string calls = per_step(volume.calls, rank.steps.size());
  return number(
      html + fmt::format(" <span class=\"note\">{} call{}</span>", calls, calls == "1" ? "" : "s"));
}

bool used(const Comparison& comparison, Traffic traffic, std::size_t op) {
  const auto t = static_cast<std::size_t>(traffic);
  return std::ranges::any_of(comparison.stages, [&](const StageComparison& stage) {
    return std::ranges::any_of(
               stage.result.ranks,
               [&](const RankResult& rank) { return rank.training_volume[t][op] != Volume{}; }) ||
           std::ranges::any_of(stage.predicted, [&](const Prediction& formula) {
             return formula.per_step[t][op] != Volume{};
           });
  });
}

}  // namespace

std::string memory_section(const Comparison& comparison) {
  HtmlTable table("Bytes held on the rank that holds most; each category at its own peak",
                  header(comparison, "category"));
  for (std::size_t c = 0; c < kCategoryCount; ++c) {
    const auto category = static_cast<Category>(c);
    const bool held = std::ranges::any_of(comparison.stages, [&](const StageComparison& stage) {
      return std::ranges::any_of(stage.result.ranks, [&](const RankResult& rank) {
        return rank.peak_by_category[c] != 0;
      });
    });
    if (!held) continue;
    std::vector<Cell> cells = memory_row(
        comparison, spoken(name_of(category)),
        [&](const RankResult& rank) { return rank.peak_by_category[c]; },
        [&](const Prediction& formula) { return formula.peak_by_category[c]; });
    if (category == Category::kChecks) {  // no training memory, no formula
      for (std::size_t s = 0; s < comparison.stages.size(); ++s) {
        const StageResult& result = comparison.stages[s].result;
        cells[s + 1] = number(grouped(result.ranks[largest_rank(result)].peak_by_category[c]));
      }
    }
    table.row(std::move(cells), category == Category::kChecks ? "aside" : "");
  }
  table.row(memory_row(
                comparison, "largest total, without checks",
                [](const RankResult& rank) { return rank.peak_bytes; },
                [](const Prediction& formula) { return formula.peak_bytes; }),
            "total");
  std::vector<Cell> moments = {{"reached at", ""}};
  for (const StageComparison& stage : comparison.stages) {
    const RankResult& rank = stage.result.ranks[largest_rank(stage.result)];
    moments.push_back(
        {rank.peak_moment.empty() ? "from the start" : escaped(rank.peak_moment), "note"});
  }
  table.row(std::move(moments), "aside");
  return fmt::format("<p>{}</p>\n{}", kFormula, table.html());
}

std::string traffic_section(const Comparison& comparison) {
  const bool nominal = comparison.config.reduction == Reduction::kNative;
  HtmlTable table("Bytes that one rank sends in one training step, the rank that sends most",
                  header(comparison, "operation"));
  for (const Traffic traffic : {Traffic::kTraining, Traffic::kControl}) {
    for (std::size_t op = 0; op < kCollectiveOpCount; ++op) {
      if (!used(comparison, traffic, op)) continue;
      std::vector<Cell> cells = {
          {fmt::format("{} <span class=\"note\">{}</span>",
                       spoken(name_of(static_cast<CollectiveOp>(op))), name_of(traffic)),
           ""}};
      for (const StageComparison& stage : comparison.stages) {
        cells.push_back(traffic_cell(stage, traffic, op, nominal));
      }
      table.row(std::move(cells));
    }
  }
  std::vector<Cell> totals = {{"in all", ""}};
  for (const StageComparison& stage : comparison.stages) {
    const std::size_t busiest = busiest_rank(stage.result);
    const std::int64_t sent = std::llround(sent_per_step(stage.result.ranks[busiest]));
    const Prediction* predicted = prediction(stage, busiest);
    const std::int64_t formula = predicted ? predicted_sent_per_step(*predicted) : 0;
    totals.push_back(compared(sent, predicted && !nominal ? &formula : nullptr));
  }
  table.row(std::move(totals), "total");
  return table.html();
}

std::string pictures_section(const Comparison& comparison) {
  const std::int64_t whole = whole_parameter_bytes(comparison);
  std::string html = picture_patterns();
  for (const StageComparison& stage : comparison.stages) {
    const std::string picture = step_picture(stage.result, whole);
    if (picture.empty()) continue;
    html += fmt::format(
        "<figure><figcaption>{}</figcaption><div class=\"scroll\" tabindex=\"0\">{}</div>"
        "</figure>\n",
        escaped(stage.result.name), picture);
  }
  return html;
}

}  // namespace zerolab
