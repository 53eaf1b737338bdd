/// \file
/// Plain data parallelism: every rank holds all model states; gradients are all-reduced.
#pragma once

#include <memory>
#include <vector>

#include "stages/parallel/completion.h"
#include "stages/parallel/frozen_parameters.h"
#include "stages/parallel/stage_parts.h"
#include "stages/stage.h"

namespace zerolab {

/// Distributed data parallelism as in Li et al. 2020 (PyTorch Distributed, section 3.2): buckets of
/// gradients are all-reduced while backward still computes the rest.
///
/// Held by each rank, in elements of Ψ: parameters 1, gradients 1, optimizer states all (ZeRO
/// paper, figure 1: 16Ψ bytes in mixed precision). Sent: 2(N−1)/N·Ψ a step.
class Ddp : public Stage {
 public:
  explicit Ddp(StageParts parts);

  std::string_view name() const override { return "ddp"; }

  void begin(const MicroBatch& micro_batch) override;
  UnitView acquire(const Use& use) override;
  void release(const Use& use) override;
  View gradients(const Use& use) override;
  void gradients_ready(const Use& use) override;
  void step(const StepSettings& settings) override;

  View norm_and_factor() const override { return parts_.clipper.norm_and_factor(); }
  void visit_owned(Category category, const OwnedVisitor& visitor) override;

 protected:
  /// Sums one bucket over the ranks, on the communication stream.
  virtual void reduce_bucket(int bucket);
  /// Updates all parameters with the optimizer.
  virtual void update_owned(View factor, const StepSettings& settings);

  StageParts parts_;
  Partition partition_;
  Buffer parameters_;                // (flat) all parameters
  Buffer gradients_;                 // (flat) all gradients
  FrozenParameters frozen_;          // (frozen) parameters that are not trained, whole
  GradientPayload payload_;          // (largest bucket), where gradients travel in another type
  GradientAccumulator accumulator_;  // (flat) sums over micro-batches
  std::unique_ptr<Optimizer> optimizer_;  // states of (flat) elements
  std::vector<OwnedSlice> owned_parameters_, owned_gradients_;
  Completion completion_;
  MicroBatch micro_batch_;
  Event reduced_;  // the last bucket's reduction
};

}  // namespace zerolab
