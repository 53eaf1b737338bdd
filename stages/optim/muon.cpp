#include "stages/optim/muon.h"

#include <algorithm>
#include <cmath>

namespace zerolab {

Muon::Muon(const OptimizerSettings& settings, const OptimizerParts& parts)
    : SliceOptimizer(settings, parts),
      rounds_(parts.replicated() ? plan_alone(parts.partition, parts.comm.rank())
                                 : plan_matrices(parts.partition)) {
  std::vector<float> scales;
  for (const TensorSpec& tensor : parts.partition.layout().tensors()) {
    hidden_.push_back(tensor.hidden);
    const double stretch =
        tensor.hidden ? static_cast<double>(tensor.shape[1]) / static_cast<double>(tensor.shape[0])
                      : 1.0;
    scales.push_back(static_cast<float>(std::sqrt(std::max(1.0, stretch))));
  }
  scales_ =
      parts.workspace(DType::kFloat32, static_cast<std::int64_t>(scales.size()), "scales of steps");
  kernels_.upload(compute_, scales.data(), scales_.view().bytes(), scales_.view());
  std::int64_t count = 0, scratch = 0;
  for (const MatrixRound& round : rounds_) {
    const PlannedMatrix* const matrix = mine(round);
    if (matrix == nullptr) continue;
    count = std::max(count, matrix->count());
    scratch = std::max(scratch, newton_schulz_scratch(matrix->rows, matrix->columns));
  }
  matrix_ = parts.workspace(DType::kFloat32, count, "whole matrix");
  scratch_ = parts.workspace(DType::kFloat32, scratch, "newton-schulz");
}

void Muon::prepare(const std::vector<UpdateSlice>& slices, View factor, const StepSettings&) {
  for (const UpdateSlice& s : slices) {
    const std::vector<Segment> matrices = part_of(s.segments, true);
    if (matrices.empty()) continue;
    kernels_.nesterov_direction(compute_, s.gradients, state(Category::kFirstMoments, s.place),
                                state(Category::kSecondMoments, s.place), factor,
                                settings_.muon_momentum, matrices);
  }
  for (const MatrixRound& round : rounds_) orthogonalise(round);
}

void Muon::orthogonalise(const MatrixRound& round) {
  const PlannedMatrix* const matrix = mine(round);
  communicate("directions of a matrix", [&](Communicator& comm) {
    for (const PlannedMatrix& each : round) gather(comm, each);
  });
  if (matrix != nullptr) {
    const View whole = matrix_.slice(0, matrix->count());
    for (const MatrixPart& part : matrix->parts) {
      if (part.owner != matrix->computer) continue;
      kernels_.copy(compute_, direction_of(part), whole.slice(part.elements));
    }
    kernels_.newton_schulz(compute_, whole,
                           scratch_.slice(0, newton_schulz_scratch(matrix->rows, matrix->columns)),
                           matrix->rows, matrix->columns);
    for (const MatrixPart& part : matrix->parts) {
      if (part.owner != matrix->computer) continue;
      kernels_.copy(compute_, whole.slice(part.elements), direction_of(part));
    }
  }
  communicate("orthogonal directions", [&](Communicator& comm) {
    for (const PlannedMatrix& each : round) scatter(comm, each);
  });
}

const PlannedMatrix* Muon::mine(const MatrixRound& round) const {
  const auto found = std::ranges::find(round, comm_.rank(), &PlannedMatrix::computer);
  return found == round.end() ? nullptr : &*found;
}

void Muon::gather(Communicator& comm, const PlannedMatrix& matrix) {
  for (const MatrixPart& part : matrix.parts) {
    if (part.owner == matrix.computer) continue;
    const CallTag tag{"directions of a matrix", Traffic::kTraining, ""};
    if (comm.rank() == part.owner) comm.send(direction_of(part), matrix.computer, tag);
    if (comm.rank() == matrix.computer) {
      comm.recv(matrix_.slice(part.elements), part.owner, tag);
    }
  }
}

void Muon::scatter(Communicator& comm, const PlannedMatrix& matrix) {
  for (const MatrixPart& part : matrix.parts) {
    if (part.owner == matrix.computer) continue;
    const CallTag tag{"orthogonal directions", Traffic::kTraining, ""};
    if (comm.rank() == matrix.computer) comm.send(matrix_.slice(part.elements), part.owner, tag);
    if (comm.rank() == part.owner) comm.recv(direction_of(part), matrix.computer, tag);
  }
}

View Muon::direction_of(const MatrixPart& part) const {
  return state(Category::kSecondMoments).slice(part.place, part.elements.size());
}

std::vector<Segment> Muon::part_of(const std::vector<Segment>& segments, bool hidden) const {
  std::vector<Segment> found;
  for (const Segment& segment : segments) {
    if (hidden_[static_cast<std::size_t>(segment.tensor)] == hidden) found.push_back(segment);
  }
  return found;
}

void Muon::update_slice(const UpdateSlice& slice, View factor, const StepSettings& settings) {
  const std::vector<Segment> matrices = part_of(slice.segments, true);
  const std::vector<Segment> others = part_of(slice.segments, false);
  if (!matrices.empty()) {
    kernels_.step_along(
        compute_, slice.parameters, state(Category::kSecondMoments, slice.place), scales_.view(),
        factor, {settings.learning_rate, settings_.weight_decay, settings_.groups}, matrices);
    // Between steps there is no direction. A skipped step finds zeros, makes nothing else of them,
    // and so leaves no mark in the states.
    const View direction = state(Category::kSecondMoments, slice.place);
    for (const Segment& s : matrices) {
      kernels_.zero(compute_, direction.slice(s.flat_begin, s.count));
    }
  }
  if (others.empty()) return;
  AdamWRule rule = adamw_rule(settings);
  rule.learning_rate *= settings_.adamw_rate;
  kernels_.adamw(compute_, slice.parameters, slice.gradients,
                 state(Category::kFirstMoments, slice.place),
                 state(Category::kSecondMoments, slice.place), factor, rule, others);
}

}  // namespace zerolab
