#include "stages/optim/matrix_plan.h"

#include <algorithm>
#include <map>

namespace zerolab {
namespace {

std::vector<PlannedMatrix> hidden_matrices(const ParameterLayout& layout) {
  std::vector<PlannedMatrix> matrices;
  for (int t = 0; t < static_cast<int>(layout.tensors().size()); ++t) {
    const TensorSpec& tensor = layout.tensor(t);
    if (!tensor.hidden || tensor.frozen) continue;
    matrices.push_back({t, tensor.shape.at(0), tensor.shape.at(1), 0, {}});
  }
  return matrices;
}

/// Multiplications of an iteration: X·Xᵀ and the polynomial times X, and the square.
std::int64_t cost(const PlannedMatrix& matrix) {
  const std::int64_t shorter = std::min(matrix.rows, matrix.columns);
  return shorter * (2 * matrix.count() + shorter * shorter);
}

/// Matrices by their tensor.
class Parts {
 public:
  explicit Parts(std::vector<PlannedMatrix>& matrices) {
    for (PlannedMatrix& matrix : matrices) by_tensor_[matrix.tensor] = &matrix;
  }
  /// What `owner` holds in a slice that begins at `place` in its states.
  void add(int owner, const std::vector<Segment>& segments, std::int64_t place) {
    for (const Segment& s : segments) {
      const auto found = by_tensor_.find(s.tensor);
      if (found == by_tensor_.end()) continue;
      found->second->parts.push_back(
          {owner, {s.tensor_begin, s.tensor_begin + s.count}, place + s.flat_begin});
    }
  }

 private:
  std::map<int, PlannedMatrix*> by_tensor_;
};

}  // namespace

std::vector<MatrixRound> plan_matrices(const Partition& partition) {
  std::vector<PlannedMatrix> matrices = hidden_matrices(partition.layout());
  std::ranges::stable_sort(matrices, std::ranges::greater{}, cost);
  const int ranks = partition.world_size();
  Parts parts(matrices);
  for (int piece = 0; piece < static_cast<int>(partition.pieces().size()); ++piece) {
    for (int owner = 0; owner < ranks; ++owner) {
      parts.add(owner, partition.segments(partition.slice(piece, owner)),
                partition.in_shard(piece).begin);
    }
  }
  std::vector<MatrixRound> rounds;
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    matrices[i].computer = static_cast<int>(i) % ranks;
    if (matrices[i].computer == 0) rounds.emplace_back();
    rounds.back().push_back(std::move(matrices[i]));
  }
  return rounds;
}

std::vector<MatrixRound> plan_alone(const Partition& partition, int rank) {
  std::vector<PlannedMatrix> matrices = hidden_matrices(partition.layout());
  Parts parts(matrices);
  for (const Range& piece : partition.pieces()) {
    parts.add(rank, partition.segments(piece), piece.begin);
  }
  std::vector<MatrixRound> rounds;
  for (PlannedMatrix& matrix : matrices) {
    matrix.computer = rank;
    rounds.push_back({std::move(matrix)});
  }
  return rounds;
}

}  // namespace zerolab
