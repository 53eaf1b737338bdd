/// \file
/// A discrete-event replay of steps on many ranks that need not be alike.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "experiments/plan/step_program.h"

namespace zerolab {

/// How ranks differ.
struct ReplaySettings {
  int ranks = 1;
  /// How many times as long a rank computes: stragglers. Empty: all alike.
  std::vector<double> slowness;
  /// Each operation of the compute stream takes up to this fraction longer, drawn by seed.
  double jitter = 0;
  std::uint64_t seed = 1;
};

/// One operation of one rank.
struct ReplayedOperation {
  std::uint32_t operation = 0;  ///< index in the program
  double begin = 0, end = 0;    ///< seconds
  double start = 0;  ///< of a collective: when the last rank had arrived; between `begin` and
                     ///< `start` this rank waited for others
};

struct RankReplay {
  std::vector<ReplayedOperation> operations;  ///< in the program's order
  double compute_seconds = 0;
  double exposed_seconds = 0;  ///< the compute stream stood still
  double waiting_seconds = 0;  ///< inside collectives, for ranks that came later
};

struct Replay {
  std::vector<RankReplay> ranks;
  double seconds = 0;             ///< until the last rank has done its last update
  std::vector<double> step_ends;  ///< of the last rank, one a step
};

/// Runs the program on all ranks. A collective begins for all when the last rank has come to it,
/// and ends for all at once. For a ring over equal links that is exact: a rank finishes its n−1
/// steps only after every other has sent its first message, (n−1) steps after the last one came.
/// With ranks alike the times are those of `operation_times`.
Replay replay(const StepProgram& program, const ReplaySettings& settings);

}  // namespace zerolab
