#include "experiments/report/verdict_table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string_view>
#include <vector>

#include "experiments/report/stage_numbers.h"
#include "experiments/report/verdict_text.h"
#include "experiments/report/words.h"

namespace zerolab {
namespace {

const char* colour_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kEqual:
      return "32";
    case Verdict::kExplained:
    case Verdict::kWithinNoise:
      return "33";
    case Verdict::kDiverged:
      return "31";
  }
  return "0";
}

std::string painted(const std::string& text, const char* code, bool colour) {
  return colour ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
}

/// One unit for a column, so that its numbers can be compared by eye.
struct Unit {
  double factor = 1;
  const char* name = "B";
};
Unit unit_for(std::int64_t largest) {
  constexpr Unit kUnits[] = {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}};
  for (const Unit& unit : kUnits) {
    if (static_cast<double>(largest) >= 10 * unit.factor) return unit;
  }
  return largest >= 1000 ? kUnits[3] : Unit{};
}
std::string in_unit(double bytes, const Unit& unit) {
  const double value = bytes / unit.factor;
  return unit.factor == 1 ? fmt::format("{:.0f}", value)
                          : fmt::format("{:.{}f}", value, value < 1000 ? 2 : 0);
}

/// "12.83 = 12.83": the sign compares bytes, not the digits shown.
std::string measured_and_predicted(double measured, const std::optional<std::int64_t>& predicted,
                                   bool equal, const Unit& unit) {
  const std::string left = in_unit(measured, unit);
  if (!predicted) return left;
  return fmt::format("{} {} {}", left,
                     equal ? "=" : "!=", in_unit(static_cast<double>(*predicted), unit));
}

constexpr std::size_t kColumns = 9;
using Row = std::array<std::string, kColumns>;

Row row_of(const Comparison& comparison, const StageComparison& stage, const Unit& held,
           const Unit& sent) {
  const StageResult& result = stage.result;
  const std::size_t largest = largest_rank(result);
  const std::size_t busiest = busiest_rank(result);
  const bool nominal = comparison.config.reduction == Reduction::kNative;
  std::optional<std::int64_t> holds, sends;
  if (largest < stage.predicted.size()) holds = stage.predicted[largest].peak_bytes;
  if (busiest < stage.predicted.size() && !nominal) {
    sends = predicted_sent_per_step(stage.predicted[busiest]);
  }
  const auto held_out = final_held_out_loss(result);
  const CheckCount checks = checks_passed(comparison, stage);
  const bool trained = !result.steps().empty();
  const bool reference = stage.compared_with.empty() && stage.verdict == Verdict::kEqual;
  return {result.name,
          !reference                      ? spoken(name_of(stage.verdict))
          : comparison.stages.size() == 1 ? std::string("trained")
                                          : std::string("reference"),
          trained ? loss_text(result.steps().back().loss) : "-",
          held_out ? loss_text(*held_out) : "-",
          trained ? loss_text(static_cast<double>(result.steps().back().grad_norm)) : "-",
          measured_and_predicted(static_cast<double>(result.ranks[largest].peak_bytes), holds,
                                 memory_as_predicted(stage), held),
          measured_and_predicted(sent_per_step(result.ranks[busiest]), sends,
                                 traffic_as_predicted(stage), sent),
          grouped(std::llround(throughput(result).tokens_per_second)),
          checks.run == 0 ? "-" : fmt::format("{}/{}", checks.passed, checks.run)};
}

std::string aligned(const Row& row, const std::array<std::size_t, kColumns>& widths,
                    const char* verdict_colour, bool colour) {
  std::string line;
  for (std::size_t c = 0; c < kColumns; ++c) {
    // Words to the left, numbers to the right.
    std::string cell =
        c < 2 ? fmt::format("{:<{}}", row[c], widths[c]) : fmt::format("{:>{}}", row[c], widths[c]);
    if (c == 1 && verdict_colour) cell = painted(cell, verdict_colour, colour);
    line += (c == 0 ? "" : "  ") + cell;
  }
  while (line.ends_with(' ')) line.pop_back();
  return line + "\n";
}

/// A fault often shows in every tensor; the first places of each check are enough in a terminal.
std::string finding_sentences(const StageComparison& stage) {
  constexpr int kPlaces = 3;
  std::string text;
  std::map<std::string, int> places;
  for (const FindingGroup& group : grouped_findings(stage.findings)) {
    if (++places[group.first.check] > kPlaces) continue;
    text +=
        fmt::format("{}: {}{}\n", stage.result.name, finding_text(group.first),
                    group.count == 1 ? "" : fmt::format(" (and {} more like it)", group.count - 1));
  }
  for (const auto& [check, count] : places) {
    if (count <= kPlaces) continue;
    text += fmt::format("{}: {} found more in {} (report.html lists them)\n", stage.result.name,
                        check, counted(count - kPlaces, "place"));
  }
  return text;
}

}  // namespace

std::string verdict_table(const Comparison& comparison, bool colour) {
  std::int64_t most_held = 0, most_sent = 0;
  for (const StageComparison& stage : comparison.stages) {
    const std::vector<RankResult>& ranks = stage.result.ranks;
    most_held = std::max(most_held, ranks[largest_rank(stage.result)].peak_bytes);
    most_sent = std::max(
        most_sent, static_cast<std::int64_t>(sent_per_step(ranks[busiest_rank(stage.result)])));
  }
  const Unit held = unit_for(most_held);
  const Unit sent = unit_for(most_sent);
  std::vector<Row> rows = {{"stage", "verdict", "loss", "held-out", "norm",
                            fmt::format("held, {}", held.name),
                            fmt::format("sent, {}/step", sent.name), "tokens/s", "checks"}};
  for (const StageComparison& stage : comparison.stages) {
    rows.push_back(row_of(comparison, stage, held, sent));
  }
  std::array<std::size_t, kColumns> widths{};
  for (const Row& row : rows) {
    for (std::size_t c = 0; c < kColumns; ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text = aligned(rows[0], widths, nullptr, colour);
  for (std::size_t s = 0; s < comparison.stages.size(); ++s) {
    text += aligned(rows[s + 1], widths, colour_of(comparison.stages[s].verdict), colour);
  }
  return text;
}

std::string verdict_sentences(const Comparison& comparison, bool colour) {
  std::string text = painted(headline(comparison), colour_of(comparison.verdict), colour) + "\n";
  for (const StageComparison& stage : comparison.stages) {
    if (stage.first_divergence) text += divergence_text(stage, comparison.reference) + "\n";
    const bool unequal = stage.verdict != Verdict::kEqual && !stage.first_divergence;
    if (unequal && !stage.reason.empty()) {
      text += fmt::format("{}: {}\n", stage.result.name, stage.reason);
    }
    text += finding_sentences(stage);
  }
  return text;
}

bool wants_colour(std::FILE* stream) {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color && *no_color != '\0') return false;
  const char* terminal = std::getenv("TERM");
  if (!terminal || std::string_view(terminal) == "dumb") return false;
  return ::isatty(::fileno(stream)) == 1;
}

}  // namespace zerolab
