// Figures as text: a terminal's columns, and tables of Markdown.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments/bench/bench_report.h"
#include "experiments/report/words.h"

namespace zerolab {
namespace {

constexpr std::size_t kColumns = 5;
using Row = std::array<std::string, kColumns>;
const Row kHeads = {"", "measured", "must", "aim", "made of"};

/// Figures that stand under one heading.
struct Block {
  std::string heading;
  std::vector<Row> rows;
};

std::string with_unit(const Spread& value, const std::string& unit) {
  return unit.empty() ? spread_text(value) : fmt::format("{} {}", spread_text(value), unit);
}

std::string parts_text(const Figure& figure) {
  std::string text;
  for (const Part& part : figure.parts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", part.name,
                        with_unit(part.value, part.unit));
  }
  return text;
}

std::vector<Block> blocks_of(const BenchReport& report) {
  std::vector<Block> blocks;
  for (const Figure& figure : report.figures) {
    const std::string heading = fmt::format("{}: {}", figure.topic, figure.meaning);
    if (blocks.empty() || blocks.back().heading != heading) blocks.push_back({heading, {}});
    blocks.back().rows.push_back({figure.name, with_unit(figure.value, figure.unit),
                                  must_text(figure), aim_text(figure), parts_text(figure)});
  }
  return blocks;
}

/// Columns on a screen; not bytes, since "≥" is three of those.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string aligned(const Row& row, const std::array<std::size_t, kColumns>& widths) {
  std::string line = " ";
  for (std::size_t c = 0; c < kColumns; ++c) {
    if (widths[c] == 0) continue;
    line += " " + row[c] + std::string(widths[c] - width(row[c]) + 1, ' ');
  }
  while (line.ends_with(' ')) line.pop_back();
  return line + "\n";
}

/// "≥ 1.10" for a limit in that direction.
std::string bound_text(const Figure& figure, double bound) {
  return fmt::format("{} {}", figure.goal->at_least ? "≥" : "≤", number_text(bound));
}

}  // namespace

std::string number_text(double value) {
  const double size = std::abs(value);
  if (!std::isfinite(value)) return fmt::format("{}", value);
  if (size >= 1000) return grouped(std::llround(value));
  if (size >= 100) return fmt::format("{:.0f}", value);
  if (size >= 10) return fmt::format("{:.1f}", value);
  if (size >= 0.9995) return fmt::format("{:.2f}", value);
  if (size >= 0.01 || value == 0) return fmt::format("{:.3f}", value);
  return fmt::format("{:.2g}", value);
}

std::string spread_text(const Spread& spread) {
  if (spread.samples < 2) return number_text(spread.median);
  return fmt::format("{} ({} to {})", number_text(spread.median), number_text(spread.smallest),
                     number_text(spread.largest));
}

std::string must_text(const Figure& figure) {
  if (!figure.goal) return "";
  const Goal& goal = *figure.goal;
  if (goal.at_least && goal.at_most) {
    return fmt::format("{} to {}", number_text(*goal.at_least), number_text(*goal.at_most));
  }
  return bound_text(figure, goal.at_least ? *goal.at_least : goal.at_most.value_or(0));
}

std::string aim_text(const Figure& figure) {
  return figure.goal && figure.goal->aim ? bound_text(figure, *figure.goal->aim) : "";
}

std::string bench_table(const BenchReport& report) {
  const std::vector<Block> blocks = blocks_of(report);
  std::array<std::size_t, kColumns> widths{};
  for (const Block& block : blocks) {
    for (const Row& row : block.rows) {
      for (std::size_t c = 0; c < kColumns; ++c) widths[c] = std::max(widths[c], width(row[c]));
    }
  }
  for (std::size_t c = 0; c < kColumns; ++c) {
    if (widths[c] > 0) widths[c] = std::max(widths[c], width(kHeads[c]));
  }
  std::string text = report.machine.text() + "\n";
  for (const Block& block : blocks) {
    text += fmt::format("\n{}\n{}", block.heading, aligned(kHeads, widths));
    for (const Row& row : block.rows) text += aligned(row, widths);
  }
  for (const std::string& notice : report.notices) text += fmt::format("\nnote: {}\n", notice);
  return text;
}

std::string bench_markdown(const BenchReport& report) {
  std::string text = fmt::format("Measured with `{}` on {}, {}.\n", report.command,
                                 report.machine.text(), report.machine.environment.started_at);
  for (const Block& block : blocks_of(report)) {
    text +=
        fmt::format("\n**{}**\n\n|  | measured | must | aim | made of |\n|---|--:|--:|--:|---|\n",
                    block.heading);
    for (const Row& row : block.rows) {
      text += "|";
      for (const std::string& cell : row) text += " " + cell + " |";
      text += "\n";
    }
  }
  for (const std::string& notice : report.notices) text += fmt::format("\nNote: {}.\n", notice);
  return text;
}

}  // namespace zerolab
