/// \file
/// Who computes which matrix, and whose elements travel there.
#pragma once

#include <cstdint>
#include <vector>

#include "stages/model/partition.h"

namespace zerolab {

/// A run of a matrix's elements that one rank owns.
struct MatrixPart {
  int owner = 0;
  Range elements;          ///< of the matrix, row-major
  std::int64_t place = 0;  ///< of the first one in the owner's states
};

struct PlannedMatrix {
  int tensor = 0;                      ///< index in the layout
  std::int64_t rows = 0, columns = 0;  ///< (in, out)
  int computer = 0;                    ///< the rank that sees the whole matrix
  std::vector<MatrixPart> parts;       ///< in order of the elements

  std::int64_t count() const { return rows * columns; }
};

/// Hidden matrices in the order in which they are computed. In each round every rank computes one
/// at most, so that a rank holds one whole matrix at a time. Matrices are dealt out by cost, so the
/// ranks of a round have about the same work.
using MatrixRound = std::vector<PlannedMatrix>;

/// The same on all ranks. Ranks of a cut share the work.
std::vector<MatrixRound> plan_matrices(const Partition& partition);

/// Where every rank holds everything: each matrix, computed by `rank` alone.
std::vector<MatrixRound> plan_alone(const Partition& partition, int rank);

}  // namespace zerolab
