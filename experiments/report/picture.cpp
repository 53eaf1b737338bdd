// The drawing, from top to bottom: the visits as columns, the lanes of the first rank, what moves,
// the lanes of the second rank. Time runs from left to right in the order of the ranks' host.
#include "experiments/report/picture.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "experiments/report/palette.h"
#include "experiments/report/step_timeline.h"
#include "experiments/report/svg_canvas.h"
#include "experiments/report/words.h"

namespace zerolab {
namespace {

constexpr double kGutter = 200;  // for the lanes' names
constexpr double kBegin = 50;    // width of what is before the first visit
constexpr double kColumn = 63;   // width of one visit
constexpr double kHeader = 40;   // phase and unit
constexpr double kLane = 24;     // a lane of what is always held
constexpr double kRow = 19;      // one row of blocks that come and go
constexpr double kMove = 34;     // a block of what moves
constexpr double kLetter = 5.6;  // width of a letter of a small label

bool is_state(Category category) { return category <= Category::kSecondMoments; }

/// The label if it fits, its beginning if that says something, else nothing.
std::string fitted(const std::string& label, double width) {
  const auto letters = static_cast<std::size_t>(std::max(0.0, (width - 6) / kLetter));
  if (label.size() <= letters) return label;
  return letters < 4 ? "" : label.substr(0, letters - 1) + "…";
}

/// "gradient of h.3" → "h.3": what the lane's name has not said already.
std::string short_label(const std::string& name) {
  const std::size_t of = name.rfind(" of ");
  return of == std::string::npos ? name : name.substr(of + 4);
}

class Drawing {
 public:
  Drawing(const StageResult& result, std::int64_t whole_bytes)
      : whole_(whole_bytes), ranks_(static_cast<int>(result.ranks.size())) {
    for (std::size_t r = 0; r < std::min<std::size_t>(2, result.ranks.size()); ++r) {
      timelines_.push_back(step_timeline(result.ranks[r]));
    }
    if (!drawable()) return;
    width_ = x_of(static_cast<int>(columns().size())) + 8;
    headings();
    lanes(timelines_.front());
    moves(timelines_.front());
    if (timelines_.size() > 1) lanes(timelines_.back());
    name_ = result.name;
  }

  std::string svg() const {
    if (!drawable()) return "";
    std::string separators;
    for (std::size_t c = 0; c < columns().size(); ++c) {
      const double x = x_of(static_cast<int>(c));
      separators += fmt::format(
          "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>",
          starts_phase(c) ? "phase-rule" : "rule", x, kHeader - 18, x, y_);
    }
    return fmt::format(
        "<svg class=\"picture\" role=\"img\" aria-label=\"{} holds and moves in one step\" "
        "viewBox=\"0 0 {:.0f} {:.0f}\" style=\"min-width:{:.0f}px;max-width:{:.0f}px\" "
        "xmlns=\"http://www.w3.org/2000/svg\">\n{}\n{}</svg>\n",
        escaped(name_), width_, y_ + 4, 0.9 * width_, 1.15 * width_, separators, canvas_.body());
  }

 private:
  bool drawable() const {
    return !timelines_.empty() &&
           std::ranges::all_of(timelines_, [&](const StepTimeline& timeline) {
             return !timeline.columns.empty() &&
                    timeline.columns.size() == timelines_.front().columns.size();
           });
  }
  const std::vector<TimelineColumn>& columns() const { return timelines_.front().columns; }
  bool starts_phase(std::size_t c) const {
    return c > 0 && columns()[c].phase != columns()[c - 1].phase;
  }
  static double x_of(int column) {
    return column == 0 ? kGutter : kGutter + kBegin + kColumn * (column - 1);
  }
  static double width_of(int first, int last) { return x_of(last + 1) - x_of(first); }

  void headings() {
    for (std::size_t c = 0; c < columns().size(); ++c) {
      const double x = x_of(static_cast<int>(c));
      if (c == 0 || starts_phase(c)) canvas_.text(x + 4, 14, "phase", "start", columns()[c].phase);
      canvas_.text(x + kColumn / 2, 33, "unit", "middle", fitted(columns()[c].unit, kColumn + 4));
    }
    y_ = kHeader;
  }

  void lanes(const StepTimeline& timeline) {
    canvas_.text(4, y_ + 14, "rank", "start",
                 fmt::format("rank {} of {} holds", timeline.rank, ranks_));
    y_ += 22;
    for (int c = 0; c < kCategoryCount; ++c) {
      const auto category = static_cast<Category>(c);
      if (timeline.peak[static_cast<std::size_t>(c)] == 0) continue;
      std::vector<const HeldBlock*> blocks;
      std::int64_t moving = 0;  // held at the begin, but not for the whole step
      for (const HeldBlock& block : timeline.blocks) {
        if (block.category != category) continue;
        blocks.push_back(&block);
        if (block.first == 0) moving += block.bytes;
      }
      const std::int64_t always = timeline.held_at_begin[static_cast<std::size_t>(c)] - moving;
      lane_name(category, timeline.peak[static_cast<std::size_t>(c)], blocks.empty());
      if (always > 0) always_lane(timeline, category, always);
      if (!blocks.empty()) block_lanes(category, blocks);
    }
    y_ += 8;
  }

  void lane_name(Category category, std::int64_t bytes, bool constant) {
    canvas_.text(12, y_ + 14, "lane", "start", spoken(name_of(category)));
    canvas_.text(kGutter - 8, y_ + 14, "bytes", "end",
                 fmt::format("{}{}", constant ? "" : "≤ ", bytes_text(bytes)));
  }

  /// A bar through the whole step. Of a model state the bar's height is the whole model, and the
  /// filled part is the rank's share, where the rank's slice lies.
  void always_lane(const StepTimeline& timeline, Category category, std::int64_t bytes) {
    const double width = width_of(0, static_cast<int>(columns().size()) - 1);
    const double height = kLane - 6;
    const Ink ink = ink_of(category);
    double share = 1;
    if (is_state(category) && whole_ > 0) {
      share = std::min(1.0, static_cast<double>(bytes) / static_cast<double>(whole_));
    }
    const bool sharded = share < 0.95;
    if (sharded) canvas_.box(kGutter, y_, width, height, "absent", "", "held by other ranks");
    const double top =
        sharded ? (height - height * share) * timeline.rank / std::max(1, ranks_ - 1) : 0;
    const double filled = sharded ? std::max(3.0, height * share) : height;
    canvas_.box(kGutter, y_ + std::min(top, height - filled), width, filled, class_of(category),
                ink.pattern,
                fmt::format("rank {}: {} of {}{}", timeline.rank, bytes_text(bytes),
                            spoken(name_of(category)),
                            sharded ? fmt::format(", 1/{:.0f} of the whole", 1 / share) : ""));
    y_ += kLane;
  }

  /// Blocks that overlap in time go to rows of their own.
  void block_lanes(Category category, const std::vector<const HeldBlock*>& blocks) {
    std::vector<int> busy_until;
    for (const HeldBlock* block : blocks) {
      std::size_t row = 0;
      while (row < busy_until.size() && busy_until[row] >= block->first) ++row;
      if (row == busy_until.size()) busy_until.push_back(-1);
      busy_until[row] = block->last;
      const double width = width_of(block->first, block->last) - 2;
      const double top = y_ + kRow * static_cast<double>(row);
      const double left = x_of(block->first) + 1;
      canvas_.box(left, top, width, kRow - 3, class_of(category), "",
                  fmt::format("{}: {}, {}", spoken(name_of(category)), block->name,
                              bytes_text(block->bytes)));
      const std::string label = short_label(block->name);
      const std::string full = fmt::format("{} {}", label, bytes_text(block->bytes));
      const bool all = fitted(full, width) == full;
      canvas_.text(left + 4, top + 12, "on-" + class_of(category), "start",
                   all ? full : fitted(label, width));
    }
    y_ += kRow * static_cast<double>(busy_until.size()) + 3;
  }

  struct Moved {
    int calls = 0;
    std::int64_t sent_bytes = 0;
    const CollectiveRecord* first = nullptr;
    bool nominal = false;
  };

  /// Same operations of one visit are one block: a large embedding fills many buckets.
  void moves(const StepTimeline& timeline) {
    std::map<std::tuple<int, Traffic, CollectiveOp, std::string>, Moved> groups;
    for (const Move& move : timeline.moves) {
      const CollectiveRecord& record = *move.record;
      if (sent(record) + received(record) == 0) continue;  // a world of one rank
      const bool control = record.traffic == Traffic::kControl;
      Moved& moved = groups[{move.column, record.traffic, record.op, control ? "" : record.what}];
      if (moved.calls++ == 0) moved.first = &record;
      moved.sent_bytes += sent(record);
      moved.nominal = moved.nominal || record.nominal;
    }
    canvas_.text(4, y_ + 26, "rank", "start", "what moves");
    canvas_.text(4, y_ + 42, "lane", "start", "launched here; bytes that");
    canvas_.text(4, y_ + 56, "lane", "start", "each rank sends to all others");
    const double top = y_ + 14;
    if (groups.empty()) canvas_.text(kGutter + 8, top + 14, "lane", "start", "nothing");
    std::vector<int> stacked(columns().size(), 0);
    for (const auto& [key, moved] : groups) {
      const auto& [column, traffic, op, what] = key;
      int& above = stacked[static_cast<std::size_t>(column)];
      move_box(column, top + kMove * above, traffic, op, moved);
      ++above;
    }
    const int tallest = std::max(2, *std::ranges::max_element(stacked));
    for (std::size_t c = 0; c < stacked.size(); ++c) {
      if (stacked[c] == 0) continue;
      const int column = static_cast<int>(c);
      const double x = x_of(column) + width_of(column, column) / 2;
      canvas_.arrow(x, top - 2, top - 13, true);
      if (timelines_.size() < 2) continue;
      canvas_.arrow(x, top + kMove * stacked[c], top + kMove * tallest + 10, true);
    }
    y_ = top + kMove * tallest + 16;
  }

  void move_box(int column, double y, Traffic traffic, CollectiveOp op, const Moved& moved) {
    const bool control = traffic == Traffic::kControl;
    const std::string css = control ? "move-control" : class_of(op);
    const double x = x_of(column) + 1;
    const double width = width_of(column, column) - 2;
    const std::string calls = moved.calls > 1 ? fmt::format("×{}", moved.calls) : "";
    canvas_.box(x, y, width, kMove - 4, css, "",
                fmt::format("{} {}{}: {} sent by each rank{}", moved.first->what,
                            moved.calls > 1 ? "" : moved.first->detail, calls,
                            bytes_text(moved.sent_bytes), moved.nominal ? " (nominal)" : ""));
    const std::string detail = moved.calls > 1 ? calls : moved.first->detail;
    const std::string bytes = bytes_text(moved.sent_bytes);
    const std::string both = fmt::format("{} {}", short_name(op), bytes);
    const bool fits = !control && fitted(both, width + 6) == both;
    const std::string title = control ? "control"
                              : fits  ? detail
                                      : fmt::format("{} {}", short_name(op), calls);
    canvas_.text(x + width / 2, y + 12, "on-" + css, "middle", fitted(title, width + 6));
    canvas_.text(x + width / 2, y + 25, "on-" + css, "middle", fits ? both : bytes);
  }

  std::int64_t whole_;
  int ranks_;
  std::string name_;
  std::vector<StepTimeline> timelines_;
  SvgCanvas canvas_;
  double width_ = 0;
  double y_ = 0;
};

}  // namespace

std::string step_picture(const StageResult& result, std::int64_t whole_bytes) {
  return Drawing(result, whole_bytes).svg();
}

}  // namespace zerolab
