/// \file
/// The same training where rounding in the reduction of gradients does as much as its bound allows.
#pragma once

#include "experiments/runner/stage_factory.h"

namespace zerolab {

/// The stage that `clean` makes, which is handed gradients each of whose elements is off by the
/// factor 1 ± `relative`, the sign drawn by Philox from (seed, step, rank, micro-batch, unit,
/// element). A sum that was computed in any order is the exact sum of terms that are off by no more
/// than that (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2: summation is
/// backward stable), so a run whose sums are off by their whole bound looks like this one.
StageFactory with_perturbed_terms(StageFactory clean, double relative, std::uint64_t seed);

}  // namespace zerolab
