/// \file
/// Whether two runs have the same bits, and where they first have not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/runner/results.h"

namespace zerolab {

/// What a finished run must have brought home.
struct Expectation {
  int ranks = 1;
  std::int64_t steps = 1;
  bool fingerprints = true;  ///< REF was on
};

/// Why the result proves nothing and must not compare as equal to anything: a rank or a step is
/// missing or in the wrong place, a loss or norm is not finite, ranks disagree about the loss,
/// fingerprints are missing or blank. Empty when it is sound.
std::string what_is_missing(const StageResult& result, const Expectation& expected);

/// The first place where the bits of two runs differ.
struct BitDifference {
  std::int64_t step = 0;
  std::string phase;     ///< a fingerprint phase, or "loss", "norm", "held_out_loss", "data"
  int tensor = -1;       ///< index in the layout, of a fingerprint phase
  std::string sentence;  ///< "the loss of step 3 is 2.5, the reference's is 2.25"
};

/// Compares steps in order and, within a step, what it computes in the order in which a fault
/// shows. A tensor is named before the loss and the norm of the same step, which only follow from
/// tensors. `tensors`: names, by index in the layout.
std::optional<BitDifference> first_difference(const StageResult& reference,
                                              const StageResult& candidate,
                                              const std::vector<std::string>& tensors);

}  // namespace zerolab
