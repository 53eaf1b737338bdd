/// \file
/// The same training where rounding in the reduction of gradients does as much as its bound allows.
#pragma once

#include "experiments/runner/stage_factory.h"

namespace zerolab {

/// The stage that `clean` makes, which is handed gradients g each of whose elements is off by
/// ± `relative`·|g|. The sign is drawn by Philox from (seed, step, unit, element), the same for all
/// terms of a sum, so that the sum is off by `relative` times the sum of their magnitudes: as far
/// as a sum in any order can be, if `relative` is its bound (Higham, Accuracy and Stability of
/// Numerical Algorithms, section 4.2).
StageFactory with_perturbed_terms(StageFactory clean, double relative, std::uint64_t seed);

}  // namespace zerolab
