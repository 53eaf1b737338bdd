/// \file
/// Muon (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon/): momentum, orthogonalised.
#pragma once

#include "stages/optim/matrix_plan.h"
#include "stages/optim/slice_optimizer.h"

namespace zerolab {

/// For the weights of hidden layers (TensorSpec::hidden):
///
///     m = β·m + g,   u = g + β·m                       Nesterov momentum
///     O = five Newton–Schulz iterations of u            Kernels::newton_schulz, in fp32
///     w = w·(1 − learning_rate·weight_decay) − learning_rate · √max(1, out/in) · O
///
/// The factor is the original's, not Moonlight's 0.2·√max(out, in). Everything else (embeddings,
/// norms, biases, the first and last layer) is AdamW's, at `adamw_rate` times the learning rate.
///
/// O needs the whole matrix. One rank computes each (matrix_plan.h): the owners send it their
/// elements of u and get back theirs of O, each element once in each direction. The messages of a
/// step have one order that all ranks keep, so every wait is for a rank that is before it in that
/// order, and no two wait for each other. Where every rank holds everything, each computes all
/// matrices itself: nothing travels, and the work is done N times.
///
/// Both moments are allocated for all elements, as in AdamW. A matrix has no second moment; u and
/// then O lie in its place, so that directions need no memory of their own.
class Muon final : public SliceOptimizer {
 public:
  Muon(const OptimizerSettings& settings, const OptimizerParts& parts);

 protected:
  void prepare(const std::vector<UpdateSlice>& slices, View factor,
               const StepSettings& settings) override;
  void update_slice(const UpdateSlice& slice, View factor, const StepSettings& settings) override;

 private:
  void orthogonalise(const MatrixRound& round);
  /// The matrix that this rank computes, or nullptr.
  const PlannedMatrix* mine(const MatrixRound& round) const;
  /// Between the owners' directions and the matrix, whole on its computer.
  void gather(Communicator& comm, const PlannedMatrix& matrix);
  void scatter(Communicator& comm, const PlannedMatrix& matrix);
  View direction_of(const MatrixPart& part) const;
  std::vector<Segment> part_of(const std::vector<Segment>& segments, bool hidden) const;

  std::vector<MatrixRound> rounds_;
  std::vector<bool> hidden_;  // by tensor
  Buffer scales_;             // (tensors) √max(1, out/in)
  Buffer matrix_, scratch_;   // for the largest matrix that this rank computes
};

}  // namespace zerolab
