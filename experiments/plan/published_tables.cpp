#include "experiments/plan/published_tables.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/plan/published_formulas.h"
#include "experiments/report/json_fields.h"
#include "experiments/report/words.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr double kSlack = 1e-9;  // of decimal fractions that binary ones only approach

std::string optional_text(const JsonField& entry, const char* key) {
  return entry.has(key) ? entry[key].text() : std::string();
}

int decimals_of(const std::string& printed) {
  const std::size_t point = printed.find('.');
  return point == std::string::npos ? 0 : static_cast<int>(printed.size() - point - 1);
}

bool agree(const PublishedFigure& figure, double published, double ours) {
  const double unit = std::pow(10.0, -decimals_of(figure.published));
  const double slack = kSlack * std::abs(published);
  const double difference = std::abs(ours - published);
  if (figure.printed == "rounded") return difference <= 0.5 * unit + slack;
  if (figure.printed == "truncated") return ours >= published - slack && ours < published + unit;
  if (figure.printed == "scaled") {
    return difference <= 0.5 * unit * FormulaArguments(figure.arguments).number("mp") + slack;
  }
  if (figure.printed == "at least") return ours >= published - slack;
  if (figure.printed == "about") return difference <= 0.1 * std::abs(published);
  if (figure.printed == "0.2 points") return difference <= 0.2 + slack;
  bad_input("[published] '{}' is no way of printing a figure", figure.printed);
}

/// Two decimals more than were printed, without trailing zeros.
std::string ours_text(const RecomputedFigure& figure) {
  std::string text = fmt::format("{:.{}f}", figure.ours, decimals_of(figure.figure.published) + 2);
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string difference_text(const RecomputedFigure& figure) {
  const double published = std::stod(figure.figure.published);
  if (published == 0) return figure.ours == 0 ? "0" : "–";
  const double percent = 100 * (figure.ours / published - 1);
  return std::abs(percent) < 0.005 ? "0" : fmt::format("{:+.2f} %", percent);
}

std::string reason_of(const RecomputedFigure& figure) {
  const PublishedFigure& f = figure.figure;
  std::string text = f.agrees ? "" : "**contradiction:** ";
  text += f.reason;
  const bool plain = f.printed == "rounded" || f.printed == "truncated" || f.printed == "scaled";
  if (!plain && f.agrees) text += (text.empty() ? "" : "; ") + ("“" + f.printed + "”");
  return text;
}

std::string sources_of(const std::vector<RecomputedFigure>& figures, const std::string& table) {
  std::vector<std::string> sources;
  for (const RecomputedFigure& figure : figures) {
    const std::string& source = figure.figure.source;
    if (figure.figure.table != table || source.empty()) continue;
    if (std::ranges::find(sources, source) == sources.end()) sources.push_back(source);
  }
  std::string text;
  for (const std::string& source : sources) text += (text.empty() ? "" : "; ") + source;
  return text;
}

constexpr const char* kHead =
    "# Published tables, recomputed\n"
    "\n"
    "Every figure below was printed by somebody else and is computed here by the code that plans a "
    "run: the same formulas that `zerolab compare` holds its measured bytes against. A figure "
    "agrees when it is ours at printed precision. Those that cannot agree are named, with the "
    "contradiction in their source. GB are 1e9 bytes, GiB are 2^30, whatever the source calls "
    "them.\n"
    "\n"
    "This page is written by `./zerolab plan --published-tables > docs/published-tables.md`; a "
    "test fails when it is out of date.\n";

}  // namespace

std::vector<PublishedFigure> read_published_figures(const std::string& path) {
  const Json json = read_json_file(path);
  const JsonField root(json, path);
  std::vector<PublishedFigure> figures;
  for (std::size_t i = 0; i < root.size(); ++i) {
    const JsonField entry = root[i];
    PublishedFigure figure;
    figure.table = entry["table"].text();
    figure.row = entry["row"].text();
    figure.published = entry["published"].text();
    figure.unit = optional_text(entry, "unit");
    figure.formula = entry["formula"].text();
    figure.arguments = entry["arguments"].text();
    figure.printed = entry["printed"].text();
    figure.agrees = entry["expected"].text() == "equal";
    figure.reason = optional_text(entry, "reason");
    figure.source = optional_text(entry, "source");
    figures.push_back(std::move(figure));
  }
  return figures;
}

std::vector<PublishedFigure> published_figures() {
  return read_published_figures(ZEROLAB_PUBLISHED "/figures.json");
}

std::vector<Disagreement> published_disagreements() {
  const std::string path = ZEROLAB_PUBLISHED "/disagreements.json";
  const Json json = read_json_file(path);
  const JsonField root(json, path);
  std::vector<Disagreement> disagreements;
  for (std::size_t i = 0; i < root.size(); ++i) {
    const JsonField entry = root[i];
    disagreements.push_back({entry["what"].text(), entry["readings"].text(),
                             entry["followed"].text(), entry["why"].text()});
  }
  return disagreements;
}

RecomputedFigure recompute(const PublishedFigure& figure) {
  RecomputedFigure result{figure, 0, false};
  result.ours = evaluate_formula(figure.formula, FormulaArguments(figure.arguments));
  result.agrees = agree(figure, std::stod(figure.published), result.ours);
  return result;
}

std::string published_page(const std::vector<RecomputedFigure>& figures,
                           const std::vector<Disagreement>& disagreements) {
  const auto differing =
      std::ranges::count_if(figures, [](const RecomputedFigure& figure) { return !figure.agrees; });
  std::string text = kHead;
  text += fmt::format("\n{} figures, {} agree, {} contradict their own source.\n", figures.size(),
                      static_cast<std::int64_t>(figures.size()) - differing, differing);
  std::string table;
  for (const RecomputedFigure& figure : figures) {
    const PublishedFigure& f = figure.figure;
    if (f.table != table) {
      table = f.table;
      text += fmt::format("\n## {}\n\nSource: {}.\n\n", table, sources_of(figures, table));
      text += "| figure | published | ours | difference | reason |\n|---|--:|--:|--:|---|\n";
    }
    text += fmt::format("| {} | {}{}{} | {} | {} | {} |\n", f.row, f.published,
                        f.unit.empty() ? "" : " ", f.unit, ours_text(figure),
                        difference_text(figure), reason_of(figure));
  }
  text += "\n## Where sources contradict each other\n\n";
  text += "| what | readings | followed | why |\n|---|---|---|---|\n";
  for (const Disagreement& d : disagreements) {
    text += fmt::format("| {} | {} | {} | {} |\n", d.what, d.readings, d.followed, d.why);
  }
  return text;
}

}  // namespace zerolab
