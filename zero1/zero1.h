/// \file
/// ZeRO stage 1 (P_os): optimizer states are partitioned among the ranks.
#pragma once

#include <memory>
#include <vector>

#include "stages/parallel/completion.h"
#include "stages/parallel/frozen_parameters.h"
#include "stages/parallel/stage_parts.h"
#include "stages/stage.h"

namespace zerolab {

/// ZeRO-1 (Rajbhandari et al. 2020, section 5.1, P_os): each rank keeps the optimizer states of 1/N
/// of every bucket, updates that slice, and gathers the updated parameters from the others.
///
/// Held by each rank, in elements of Ψ: parameters 1, gradients 1, optimizer states 1/N. Sent:
/// reduce-scatter (N−1)/N·Ψ and all-gather (N−1)/N·Ψ a step, as much as DDP.
class Zero1 : public Stage {
 public:
  explicit Zero1(StageParts parts);

  std::string_view name() const override { return "zero1"; }

  void begin(const MicroBatch& micro_batch) override;
  UnitView acquire(const Use& use) override;
  void release(const Use& use) override;
  View gradients(const Use& use) override;
  void gradients_ready(const Use& use) override;
  void step(const StepSettings& settings) override;

  View norm_and_factor() const override { return parts_.clipper.norm_and_factor(); }
  void visit_owned(Category category, const OwnedVisitor& visitor) override;

 protected:
  /// Sums one bucket over the ranks and leaves this rank's slice here, on the communication stream.
  virtual void reduce_bucket(int bucket);
  /// Adds the reduced slice of the bucket to the sum over micro-batches.
  virtual void accumulate_shard(int bucket, View reduced);
  /// Updates this rank's slice of every bucket with the optimizer.
  virtual void update_owned(View factor, const StepSettings& settings);
  /// Gives every rank the whole of every updated bucket.
  virtual void publish();

  int rank() const { return parts_.comm.rank(); }

  StageParts parts_;
  Partition partition_;
  Buffer parameters_;                // (flat) all parameters
  Buffer gradients_;                 // (flat) all gradients
  FrozenParameters frozen_;          // (frozen) parameters that are not trained, whole
  GradientPayload payload_;          // (largest bucket), where gradients travel in another type
  GradientAccumulator accumulator_;  // (flat/N) sums over micro-batches
  std::unique_ptr<Optimizer> optimizer_;  // states of (flat/N) elements
  std::vector<OwnedSlice> owned_parameters_, owned_gradients_;
  Completion completion_;
  MicroBatch micro_batch_;
  Event reduced_;                 // the last bucket's reduction
  std::vector<Event> published_;  // by bucket: its parameters are whole again
};

}  // namespace zerolab
