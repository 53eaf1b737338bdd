/// \file
/// Floating-point operations of a training step.
#pragma once

#include <cstdint>
#include <vector>

#include "experiments/plan/recipe.h"

namespace zerolab {

/// Forward operations of one micro-batch, by unit of the layout; `head` is the tied embedding's
/// second use. 24·b·s·h² + 4·b·s²·h a block, 2·b·s·h·V the head: a multiply-add is two, and the
/// whole attention square is counted (Narayanan et al., arXiv 2104.04473, appendix).
struct ForwardFlops {
  std::vector<double> by_unit;
  double head = 0;
  double attention = 0;  ///< of one block, the part 4·b·s²·h
  double total() const;
};
ForwardFlops forward_flops(const Recipe& recipe, const PlannedModel& model);

/// Operations of one rank's step: what the model needs, 3 forwards for each micro-batch, and what
/// the hardware does, with what is recomputed: attention's square once more, or all blocks.
struct StepFlops {
  double model = 0, hardware = 0;
};
StepFlops step_flops(const Recipe& recipe, const PlannedModel& model);

/// Closed forms for any extents, B sequences in all:
///   none       72·B·s·l·h²(1 + s/6h + V/12lh)   (Korthikanti et al., equation 7)
///   selective  72·B·s·l·h²(1 + s/3h + V/12lh)   (equation 8, which counts attention twice in
///              backward too; `step_flops` counts one more forward)
///   full       96·B·s·l·h²(1 + s/6h + V/16lh)   (Narayanan et al., equation 3)
double gpt_step_flops(double B, double s, double l, double h, double V, Recompute recompute);

/// Tokens (or samples) that one rank trains on in a step.
std::int64_t tokens_of_rank(const Recipe& recipe, const PlannedModel& model);

}  // namespace zerolab
