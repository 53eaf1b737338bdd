/// \file
/// One training step as its rank's host saw it: what was held while each unit was visited, and
/// which collectives were launched there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/runner/results.h"

namespace zerolab {

/// A visit of a unit, the optimizer, or what comes before the first visit.
struct TimelineColumn {
  std::string phase;  ///< "begin", "forward", "recompute", "backward", "optimizer"
  std::string unit;   ///< "h.2"; empty for "begin" and "optimizer"
};

/// Memory from its allocation to its free, both inclusive, in columns.
struct HeldBlock {
  Category category{};
  std::string name;
  std::int64_t bytes = 0;
  int first = 0, last = 0;
};

/// A collective at the column where the host launched it.
struct Move {
  int column = 0;
  const CollectiveRecord* record = nullptr;
};

/// The last micro-batch of the last step of one rank; with gradient accumulation the micro-batches
/// before it are in the column "begin".
struct StepTimeline {
  int rank = 0;
  int micro_batches = 1;  ///< in the step
  std::vector<TimelineColumn> columns;
  /// In columns, at its end. Without kChecks, like all figures here.
  std::vector<CategoryBytes> held;
  CategoryBytes held_at_begin{};  ///< when the first column ends
  CategoryBytes peak{};           ///< largest after the first column, each category its own
  std::int64_t peak_bytes = 0;    ///< the largest total after the first column
  std::vector<HeldBlock> blocks;  ///< that come or go within the columns
  std::vector<Move> moves;        ///< training and control, in order of launch
};

/// `rank` must outlive the timeline. Empty columns when the rank recorded no step.
StepTimeline step_timeline(const RankResult& rank);

/// Bytes that one collective sends to all peers together.
std::int64_t sent(const CollectiveRecord& record);
std::int64_t received(const CollectiveRecord& record);

}  // namespace zerolab
