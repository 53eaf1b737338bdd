/// \file
/// The last step's timeline in report.json: what two ranks held and what moved.
#pragma once

#include "experiments/report/json_fields.h"
#include "experiments/runner/results.h"

namespace zerolab {

/// Ranks whose timeline is kept: enough to see who owns what.
inline constexpr std::size_t kTimelineRanks = 2;

Json timeline_json(const StageResult& result);

/// Puts the timeline into `result.ranks`, which exist already. \throws BadInput
void read_timeline(const JsonField& timeline, StageResult& result);

/// {"parameters": n, …}, each category known and none negative. \throws BadInput
CategoryBytes read_categories(const JsonField& field);

}  // namespace zerolab
