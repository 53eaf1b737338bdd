#include "experiments/report/step_timeline.h"

#include <algorithm>
#include <numeric>

namespace zerolab {
namespace {

/// "step 60 backward h.2" and "step 60 micro-batch 1 backward h.2" → {"backward", "h.2"};
/// "step 60" → {"begin", ""}.
TimelineColumn column_of(const std::string& moment) {
  const auto word = [&](std::size_t& at) {
    const std::size_t begin = std::min(at, moment.size());
    const std::size_t end = std::min(moment.find(' ', begin), moment.size());
    at = end + 1;
    return moment.substr(begin, end - begin);
  };
  std::size_t at = 0;
  word(at);  // "step"
  word(at);  // its number
  std::string phase = word(at);
  if (phase == "micro-batch") {
    word(at);  // its number
    phase = word(at);
  }
  if (phase.empty()) return {"begin", ""};
  return {phase, at < moment.size() ? moment.substr(at) : ""};
}

/// The step's moments with the column that each lies in; those of earlier micro-batches lie in
/// column 0.
struct Columns {
  std::vector<TimelineColumn> columns;
  std::vector<int> of_moment;
  int micro_batches = 1;
};

Columns columns_of(const std::vector<MemoryMoment>& moments) {
  std::vector<TimelineColumn> all;
  for (const MemoryMoment& moment : moments) {
    if (moment.name.starts_with("evaluation")) break;
    all.push_back(column_of(moment.name));
  }
  // A micro-batch begins where a forward visit does not follow another.
  std::size_t begin = 0;
  Columns result;
  result.micro_batches = 0;
  for (std::size_t m = 0; m < all.size(); ++m) {
    if (all[m].phase != "forward" || (m > 0 && all[m - 1].phase == "forward")) continue;
    ++result.micro_batches;
    begin = m;
  }
  if (all.empty()) return result;
  result.columns.push_back({"begin", ""});
  for (std::size_t m = 0; m < all.size(); ++m) {
    const bool shown = m >= begin && all[m].phase != "begin";
    if (shown) result.columns.push_back(all[m]);
    result.of_moment.push_back(shown ? static_cast<int>(result.columns.size()) - 1 : 0);
  }
  return result;
}

/// Follows allocations and frees through the columns.
class Blocks {
 public:
  Blocks(const RankResult& rank, StepTimeline& timeline)
      : timeline_(timeline), held_(rank.held_before) {
    held_[static_cast<std::size_t>(Category::kChecks)] = 0;
    timeline_.held.resize(timeline_.columns.size());
  }

  void see(const MemoryEvent& event, int column) {
    if (event.category == Category::kChecks) return;
    end_columns_before(column);
    const auto category = static_cast<std::size_t>(event.category);
    held_[category] += event.bytes;
    if (column > 0) note_peak();
    if (event.bytes > 0) {
      open_.push_back({event.category, event.name, event.bytes, column, column});
    } else {
      close(event, column);
    }
  }

  void finish() {
    const int last = static_cast<int>(timeline_.columns.size()) - 1;
    end_columns_before(last + 1);
    for (HeldBlock& block : open_) {
      block.last = last;
      keep(block);
    }
    std::ranges::stable_sort(timeline_.blocks, {}, &HeldBlock::first);
  }

 private:
  void end_columns_before(int column) {
    for (; ended_ < column; ++ended_) {
      timeline_.held[static_cast<std::size_t>(ended_)] = held_;
      if (ended_ > 0) continue;
      timeline_.held_at_begin = held_;
      note_peak();
    }
  }

  void note_peak() {
    std::int64_t total = 0;
    for (std::size_t c = 0; c < kCategoryCount; ++c) {
      timeline_.peak[c] = std::max(timeline_.peak[c], held_[c]);
      total += held_[c];
    }
    timeline_.peak_bytes = std::max(timeline_.peak_bytes, total);
  }

  void close(const MemoryEvent& event, int column) {
    const auto match = std::find_if(open_.rbegin(), open_.rend(), [&](const HeldBlock& block) {
      return block.category == event.category && block.name == event.name &&
             block.bytes == -event.bytes;
    });
    if (match == open_.rend()) {  // held since before the step
      keep({event.category, event.name, -event.bytes, 0, column});
      return;
    }
    match->last = column;
    keep(*match);
    open_.erase(std::next(match).base());
  }

  /// What was there in the first column and stays to the end is no news.
  void keep(const HeldBlock& block) {
    const int last = static_cast<int>(timeline_.columns.size()) - 1;
    const bool gone_before = block.last == 0;
    const bool always = block.first == 0 && block.last == last;
    if (!gone_before && !always) timeline_.blocks.push_back(block);
  }

  StepTimeline& timeline_;
  CategoryBytes held_{};
  std::vector<HeldBlock> open_;
  int ended_ = 0;  // columns before this one have ended
};

/// Records carry the moment's name, and a tied head makes a name repeat. From the end backwards
/// each record takes the latest moment that it can.
void place_moves(const RankResult& rank, const Columns& columns, StepTimeline& timeline) {
  auto moment = static_cast<std::ptrdiff_t>(columns.of_moment.size()) - 1;
  for (auto record = rank.records.rbegin(); record != rank.records.rend(); ++record) {
    if (record->traffic == Traffic::kChecks) continue;
    auto at = moment;
    while (at >= 0 && rank.moments[static_cast<std::size_t>(at)].name != record->phase) --at;
    if (at >= 0) moment = at;
    const int column = at >= 0 ? columns.of_moment[static_cast<std::size_t>(at)] : 0;
    timeline.moves.push_back({column, &*record});
  }
  std::ranges::reverse(timeline.moves);
}

}  // namespace

StepTimeline step_timeline(const RankResult& rank) {
  StepTimeline timeline;
  timeline.rank = rank.rank;
  const Columns columns = columns_of(rank.moments);
  timeline.columns = columns.columns;
  timeline.micro_batches = std::max(1, columns.micro_batches);
  if (columns.columns.empty()) return timeline;

  Blocks blocks(rank, timeline);
  std::size_t moment = 0;
  for (std::size_t e = 0; e < rank.memory_events.size(); ++e) {
    while (moment + 1 < rank.moments.size() &&
           rank.moments[moment + 1].first_event <= static_cast<std::int64_t>(e)) {
      ++moment;
    }
    if (moment >= columns.of_moment.size()) break;  // the evaluation after the step
    blocks.see(rank.memory_events[e], columns.of_moment[moment]);
  }
  blocks.finish();
  place_moves(rank, columns, timeline);
  return timeline;
}

std::int64_t sent(const CollectiveRecord& record) {
  return std::accumulate(record.sent_to.begin(), record.sent_to.end(), std::int64_t{0});
}

std::int64_t received(const CollectiveRecord& record) {
  return std::accumulate(record.received_from.begin(), record.received_from.end(), std::int64_t{0});
}

}  // namespace zerolab
