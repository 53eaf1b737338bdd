/// \file
/// A replayed step as a Perfetto trace, and in words.
#pragma once

#include <string>

#include "experiments/plan/plan_report.h"
#include "experiments/plan/replay.h"

namespace zerolab {

/// Ranks of the largest replay: each one's operations are kept.
inline constexpr int kMostReplayedRanks = 1024;

/// Replays two steps of a stage on all of the request's ranks.
/// \throws BadInput when the cluster is not timed, has too many ranks, or a step too many
/// micro-batches.
struct StageReplay {
  std::string stage;
  StepProgram program;
  Replay replay;
  /// Of the second step.
  double step_seconds() const { return replay.step_ends[1] - replay.step_ends[0]; }
};
StageReplay replay_stage(const std::string& stage, const PlanRequest& request,
                         const ReplaySettings& settings);

/// The second step in the format of `compare --trace`: a process a rank, a row a stream; time spent
/// waiting for other ranks is a bar of its own.
std::string replay_trace(const StageReplay& replay);

/// Step times and who waited how long.
std::string replay_text(const std::vector<StageReplay>& replays);

}  // namespace zerolab
