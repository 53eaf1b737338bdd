/// \file
/// Sums down the columns of a matrix: gradients of biases.
#pragma once

#include <cstdint>

#include "stages/kernels/cpu/thread_team.h"

namespace zerolab::cpu {

/// sums(columns) += Σ over rows of x(rows, columns). Each column is added up in row order, so the
/// result does not depend on how the columns are shared out.
void add_column_sums(ThreadTeam& team, const float* x, float* sums, std::int64_t rows,
                     std::int64_t columns);

}  // namespace zerolab::cpu
