/// \file
/// A small, hand-made comparison of a plausible shape, for tests of the reports.
#pragma once

#include <string>
#include <vector>

#include "experiments/compare/comparison.h"

namespace zerolab {

/// ddp, zero1 and zero3 on `ranks` ranks: three steps of a model with the units embedding, h.0 and
/// ln_f. Measured = predicted, all equal, no findings, and no two ranks have equal data positions.
Comparison example_comparison(int ranks = 3);

/// zero3 differs from step 2 on, and INV and REF have found it.
Comparison diverged_example();

/// In fp16: the first step was skipped, and zero3 has other bits within the noise floor.
Comparison noisy_example();

/// The names of its tensors, by index in the fingerprints.
std::vector<std::string> example_tensors();

}  // namespace zerolab
