#include "experiments/report/walkthrough.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "experiments/report/step_timeline.h"
#include "experiments/report/words.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr std::size_t kRanks = 2;

std::int64_t sum(const CategoryBytes& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

/// "12.3 kB to each of 3 ranks", or the total where peers get different amounts.
std::string to_peers(const std::vector<std::int64_t>& bytes, const char* word) {
  std::vector<std::int64_t> some;
  std::ranges::copy_if(bytes, std::back_inserter(some), [](std::int64_t b) { return b > 0; });
  if (some.empty()) return "nothing";
  if (std::ranges::count(some, some.front()) != std::ssize(some)) {
    return fmt::format("{} {} {}",
                       bytes_text(std::accumulate(some.begin(), some.end(), std::int64_t{0})), word,
                       counted(std::ssize(some), "rank"));
  }
  return some.size() == 1
             ? fmt::format("{} {} one rank", bytes_text(some[0]), word)
             : fmt::format("{} {} each of {} ranks", bytes_text(some[0]), word, some.size());
}

std::string move_text(const CollectiveRecord& record) {
  const std::string what = record.what.empty() ? spoken(name_of(record.op)) : record.what;
  const std::string bytes = sent(record) == received(record)
                                ? to_peers(record.sent_to, "to and from")
                                : fmt::format("{}, {}", to_peers(record.sent_to, "to"),
                                              to_peers(record.received_from, "from"));
  return fmt::format("  > {}{}{}: {}{}", what, record.detail.empty() ? "" : " ", record.detail,
                     bytes, record.nominal ? " (nominal)" : "");
}

/// One rank's lines of one column.
std::vector<std::string> told(const StepTimeline& timeline, int column) {
  std::vector<std::string> lines;
  if (column >= static_cast<int>(timeline.columns.size())) return lines;
  const auto memory = [&](char sign, const HeldBlock& block) {
    lines.push_back(fmt::format("  {} {:>8}  {}: {}", sign, bytes_text(block.bytes),
                                spoken(name_of(block.category)), block.name));
  };
  const int last = static_cast<int>(timeline.columns.size()) - 1;
  for (const HeldBlock& block : timeline.blocks) {
    if (block.first == column && column > 0) memory('+', block);
  }
  for (const Move& move : timeline.moves) {
    if (move.column == column) lines.push_back(move_text(*move.record));
  }
  for (const HeldBlock& block : timeline.blocks) {
    if (block.last == column && column < last) memory('-', block);
  }
  if (!lines.empty()) {
    lines.push_back(fmt::format("  = {:>8}  held",
                                bytes_text(sum(timeline.held[static_cast<std::size_t>(column)]))));
  }
  return lines;
}

std::vector<std::string> holdings(const CategoryBytes& bytes) {
  std::vector<std::string> lines;
  for (std::size_t c = 0; c < kCategoryCount; ++c) {
    if (bytes[c] == 0) continue;
    lines.push_back(fmt::format("    {:>8}  {}", bytes_text(bytes[c]),
                                spoken(name_of(static_cast<Category>(c)))));
  }
  lines.push_back(fmt::format("  = {:>8}  in all", bytes_text(sum(bytes))));
  return lines;
}

std::vector<std::string> totals(const StepTimeline& timeline) {
  std::map<std::string, std::pair<int, std::int64_t>> by_operation;
  for (const Move& move : timeline.moves) {
    const auto& record = *move.record;
    auto& [calls, bytes] =
        by_operation[fmt::format("{} ({})", spoken(name_of(record.op)), name_of(record.traffic))];
    ++calls;
    bytes += sent(record);
  }
  std::vector<std::string> lines;
  for (const auto& [name, figures] : by_operation) {
    lines.push_back(fmt::format("    {:>8}  sent by {} {}", bytes_text(figures.second),
                                counted(figures.first, "call"), "of " + name));
  }
  if (lines.empty()) lines.emplace_back("    nothing was sent");
  lines.push_back(fmt::format("  = {:>8}  held at most", bytes_text(timeline.peak_bytes)));
  return lines;
}

class Teller {
 public:
  explicit Teller(std::vector<StepTimeline> timelines) : timelines_(std::move(timelines)) {}

  /// `lines_of(timeline)` of every rank, once where they are the same.
  template <class LinesOf>
  void tell(const std::string& title, LinesOf&& lines_of) {
    const std::vector<std::string> first = lines_of(timelines_.front());
    bool same = true;
    for (const StepTimeline& timeline : timelines_) same = same && lines_of(timeline) == first;
    if (same) {
      paragraph(timelines_.size() > 1 ? title + ", either rank" : title, first);
      return;
    }
    for (const StepTimeline& timeline : timelines_) {
      paragraph(fmt::format("{}, rank {}", title, timeline.rank), lines_of(timeline));
    }
  }
  void line(const std::string& text) { text_ += text + "\n"; }
  const std::string& text() const { return text_; }

 private:
  void paragraph(const std::string& title, const std::vector<std::string>& lines) {
    line(lines.empty() ? title + ": nothing moves" : title);
    for (const std::string& each : lines) line(each);
  }

  std::vector<StepTimeline> timelines_;
  std::string text_;
};

}  // namespace

std::string walkthrough(const StageResult& result) {
  std::vector<StepTimeline> timelines;
  for (std::size_t r = 0; r < std::min(kRanks, result.ranks.size()); ++r) {
    timelines.push_back(step_timeline(result.ranks[r]));
    if (timelines.back().columns.empty()) {
      return fmt::format("{}: no step was trained, so there is nothing to walk through\n",
                         result.name);
    }
  }
  const std::vector<TimelineColumn> columns = timelines.front().columns;
  const int micro_batches = timelines.front().micro_batches;
  Teller teller(timelines);
  teller.line(fmt::format("{}, step {}, {} of {}", result.name, result.steps().size(),
                          timelines.size() > 1 ? "ranks 0 and 1" : "rank 0", result.ranks.size()));
  teller.line("+ allocated   - freed   > message   = held");
  if (micro_batches > 1) {
    teller.line(fmt::format("micro-batch {} of {}; the ones before it are left out", micro_batches,
                            micro_batches));
  }
  teller.line("");
  teller.tell("before", [](const StepTimeline& t) { return holdings(t.held_at_begin); });
  for (std::size_t c = 1; c < columns.size(); ++c) {
    const TimelineColumn& column = columns[c];
    teller.tell(column.unit.empty() ? column.phase : column.phase + " " + column.unit,
                [&](const StepTimeline& t) { return told(t, static_cast<int>(c)); });
  }
  teller.line("");
  teller.tell(micro_batches > 1 ? "this micro-batch and the step" : "the whole step",
              [](const StepTimeline& t) { return totals(t); });
  return teller.text();
}

}  // namespace zerolab
