/// \file
/// STAGE/fingerprints.jsonl: one object a step, phase → tensor → 16 hexadecimal digits.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/runner/results.h"

namespace zerolab {

struct FingerprintFile {
  std::vector<std::string> tensors;
  /// `values[phase][tensor]`; a phase that the step did not have is empty.
  std::vector<StepFingerprints> steps;
};

/// `tensors`: the names, in the order of the fingerprints. \throws Failure (disk full, …)
void write_fingerprints(const std::filesystem::path& path,
                        const std::vector<StepFingerprints>& fingerprints,
                        const std::vector<std::string>& tensors);

/// \throws BadInput naming file, line and key: an unknown phase, tensors that change from line to
/// line, anything but 16 hexadecimal digits, steps out of order, a file cut short.
FingerprintFile read_fingerprints(const std::filesystem::path& path);

}  // namespace zerolab
