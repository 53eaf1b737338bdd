/// \file
/// Whether a recreated fault was caught, and whether what was said about it is right.
#pragma once

#include <string>
#include <vector>

#include "experiments/compare/comparison.h"
#include "experiments/faults/fault.h"

namespace zerolab {

/// What one detector said about the faulty stage.
struct DetectorOutcome {
  ExpectedFinding expected;
  bool asked = false;  ///< it was among --check
  bool fired = false;
  bool localised = false;  ///< its first finding has step and phase, tensor and rank of a value
  std::string said;        ///< that finding's sentence
};

struct FaultOutcome {
  FaultLabel label;
  std::vector<DetectorOutcome> expected;
  std::vector<std::string> others;        ///< detectors that fired besides
  std::vector<std::string> false_alarms;  ///< "zero3: MEM: …": what was said about clean stages

  /// Every expected detector fired and named the place, and clean stages raised no alarm.
  bool caught() const;
};

/// REF fires where the stage's bits differ from the reference's. The comparison includes the
/// fault's stage.
FaultOutcome outcome_of(const Comparison& comparison, const FaultLabel& label);

}  // namespace zerolab
