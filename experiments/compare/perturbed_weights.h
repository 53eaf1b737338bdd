/// \file
/// The same training from weights that are off by what rounding may do.
#pragma once

#include <memory>

#include "experiments/runner/stage_factory.h"

namespace zerolab {

/// Relative perturbation of the weights that explains the rounding of products with `inner` terms:
/// 4·√inner·u, u = 2⁻²⁴, bounds it with probability above 0.999 an element (Higham and Mary 2019,
/// theorem 3.1 with λ = 4), where the worst case is inner·u. See docs/rounding-bound.md.
double product_perturbation(std::int64_t inner);

/// The stage that `clean` makes, started from weights each of which is off by a normal number of
/// deviation `relative` times the weights' own; `seed` chooses the perturbation. Buffers for it are
/// Category::kChecks.
StageFactory from_perturbed_weights(StageFactory clean, double relative, std::uint64_t seed);

}  // namespace zerolab
