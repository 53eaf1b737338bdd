/// \file
/// Σ x² whose bits do not depend on order, cut, threads or ranks: the pre-rounded reproducible sum
/// of Demmel and Nguyen (Fast reproducible floating-point summation, ARITH 2013).
///
/// t = x² is exact in fp64. Adding and subtracting a large σ rounds t to a multiple of σ's unit;
/// the rest goes to the next, finer fold. The units are chosen from the largest |x| and the number
/// of elements so coarse that no sum of such multiples can need more than 53 bits: every partial
/// sum is exact, and exact sums commute.
#pragma once

#include <cstdint>
#include <vector>

#include "stages/core/view.h"
#include "stages/kernels/cpu/thread_team.h"
#include "stages/kernels/kernels.h"

namespace zerolab::cpu {

struct Folds {
  double value[3] = {0.0, 0.0, 0.0};
};

/// σ of each fold, for `count` elements in the whole world with |x| at most the float whose bits
/// are `max_bits`. What the last fold drops is below 2⁻³² of the sum even in the worst case with
/// two folds for 2²⁴ elements; above that a third is kept.
struct FoldConstants {
  double sigma[3] = {0.0, 0.0, 0.0};
  int folds = 2;
};

/// \throws std::logic_error for more than 2³² elements.
FoldConstants fold_constants(std::int32_t max_bits, std::int64_t count);

/// The largest of the bits of |x| over the segments: as an int32 it orders like |x|, with inf and
/// NaN on top. 0 without elements.
std::int32_t max_magnitude(ThreadTeam& team, View x, const std::vector<Segment>& segments);

/// The folds of Σ x² over the segments. A maximum that is not finite gives NaN folds.
Folds sum_of_squares(ThreadTeam& team, View x, const std::vector<Segment>& segments,
                     std::int32_t max_bits, std::int64_t count);

struct NormAndFactor {
  float norm, factor;
};

/// norm = scale · √Σ; factor = scale · min(1, max_norm / (norm + 1e-6)), or scale when
/// max_norm <= 0. `sums` holds `parts` triples of folds, added in order. NaN when the maximum is
/// not finite.
NormAndFactor norm_and_factor(std::int32_t max_bits, const double* sums, int parts, double scale,
                              double max_norm);

}  // namespace zerolab::cpu
