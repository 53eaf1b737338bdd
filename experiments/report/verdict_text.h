/// \file
/// Verdicts, divergences and findings in sentences, for terminals and pages alike.
#pragma once

#include <string>
#include <vector>

#include "experiments/compare/comparison.h"

namespace zerolab {

/// "Equal: zero1, zero2 and zero3 trained the same model as ddp, to the last bit, over 60 steps."
std::string headline(const Comparison& comparison);

/// The first divergence with its evidence: step, phase, tensor, element, owner, both values, ULP.
std::string divergence_text(const StageComparison& stage, const std::string& reference);

/// "INV, step 3, gradients of h.1.mlp.c_fc.weight, rank 2, element 4096: <message>"
std::string finding_text(const Finding& finding);

/// "step 3", "gradients", "rank 2" … joined by ", "; empty when the finding names no place.
std::string place_of(const Finding& finding);

/// "expected 0.25, found 1 (16777216 ULP apart)"; empty without values.
std::string values_of(const Finding& finding);

/// Findings that say the same of several ranks or steps, the first with how many more there are.
struct FindingGroup {
  Finding first;
  std::size_t count = 1;
};
/// Groups by check, phase and tensor, in order of appearance.
std::vector<FindingGroup> grouped_findings(const std::vector<Finding>& findings);

}  // namespace zerolab
