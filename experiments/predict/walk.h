/// \file
/// The walk through a micro-batch's uses: which copies and gradients of units are alive when.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stages/stage.h"

namespace zerolab {

/// Consecutive uses that read one unit's parameters and share one gathered copy.
struct ReadingRun {
  UnitId unit = 0;
  std::size_t first = 0, last = 0;  ///< indices of uses
};

/// The gathers of a micro-batch: one for each run.
std::vector<ReadingRun> reading_runs(std::span<const Use> uses);

/// Elements of gathered units at each use, `lengths` by unit. Each run holds its copy until its
/// last use; with overlap the copy arrives while the run before computes, unless that is of the
/// same unit (ZeRO paper, section 7.2.2: the all-gathers are pipelined with the pass). Uses that
/// read nothing are expected at the end of a pass, as in all models here.
std::vector<std::int64_t> gathered_by_use(std::span<const Use> uses,
                                          std::span<const std::int64_t> lengths, bool overlap);

/// Elements of unreduced unit gradients around one use.
struct GradientsAt {
  std::int64_t computing = 0;   ///< while the unit computes
  std::int64_t handing_on = 0;  ///< at most, while complete units are reduced one after another
};

/// A unit's gradient lives from its first backward use until its turn: units are handed on in flat
/// order once complete, and are freed when handed on. A unit without a completing use is handed on
/// as zeros, for which it takes `lengths_of_absent[unit]` elements in its turn.
std::vector<GradientsAt> gradients_by_use(std::span<const Use> uses,
                                          std::span<const std::int64_t> lengths,
                                          std::span<const std::int64_t> lengths_of_absent);

}  // namespace zerolab
