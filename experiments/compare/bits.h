/// \file
/// Whether two runs have the same bits, and where they first have not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/runner/results.h"

namespace zerolab {

/// What a run leaves to compare.
struct Evidence {
  const StageResult& result;
  std::vector<StepFingerprints> fingerprints;  ///< summed over the owners; empty without REF
};
/// \throws Failure when ranks recorded different numbers of fingerprints.
Evidence evidence_of(const StageResult& result);

/// Why the run proves nothing and must not compare as equal to anything: a rank or a step is
/// missing or in the wrong place, a loss or norm is not finite, ranks disagree about the loss,
/// fingerprints are missing or blank. Empty when it is sound.
std::string what_is_missing(const Evidence& run, int ranks, std::int64_t steps,
                            bool with_fingerprints);

/// The first place where the bits of two runs differ.
struct BitDifference {
  std::int64_t step = 0;
  std::string phase;     ///< a fingerprint phase, or "loss", "norm", "held_out_loss", "data"
  int tensor = -1;       ///< index in the layout, of a fingerprint phase
  std::string sentence;  ///< "the loss of step 3 is 2.5, the reference's is 2.25"
};

/// Compares steps in order and, within a step, what it computes in the order in which a fault
/// shows. A tensor is named before the loss and the norm of the same step, which only follow from
/// tensors. Both runs must be sound and of equal length; fingerprints are compared where both have
/// them. `tensors`: names, by index in the layout.
std::optional<BitDifference> first_difference(const Evidence& reference, const Evidence& candidate,
                                              const std::vector<std::string>& tensors);

}  // namespace zerolab
