/// \file
/// ZeRO stage 2 (P_os+g): optimizer states and gradients are partitioned among the ranks.
#pragma once

#include <memory>
#include <vector>

#include "stages/parallel/completion.h"
#include "stages/parallel/frozen_parameters.h"
#include "stages/parallel/stage_parts.h"
#include "stages/stage.h"

namespace zerolab {

/// ZeRO-2 (Rajbhandari et al. 2020, section 5.2, P_os+g): as stage 1, and the full gradient never
/// exists. A unit's gradient moves into a bucket of constant size as soon as it is complete; a full
/// bucket is reduced to its owner, who adds it to its shard, and is used again.
///
/// Held by each rank, in elements of Ψ: parameters 1, gradients and optimizer states 1/N, besides
/// the buckets and one unit's gradient. Sent: reduce-scatter (N−1)/N·Ψ a micro-batch and all-gather
/// (N−1)/N·Ψ a step; with one micro-batch as much as DDP.
class Zero2 : public Stage {
 public:
  explicit Zero2(StageParts parts);

  std::string_view name() const override { return "zero2"; }

  void begin(const MicroBatch& micro_batch) override;
  UnitView acquire(const Use& use) override;
  void release(const Use& use) override;
  View gradients(const Use& use) override;
  void gradients_ready(const Use& use) override;
  void step(const StepSettings& settings) override;

  View norm_and_factor() const override { return parts_.clipper.norm_and_factor(); }
  void visit_owned(Category category, const OwnedVisitor& visitor) override;

 protected:
  /// Moves a complete unit's gradient on into the buckets and frees it.
  virtual void fill_buckets(UnitId unit);
  /// Sums one full bucket over the ranks into this rank's shard, on the communication stream.
  virtual void reduce_bucket(int bucket);
  /// Adds the reduced slice of the bucket to the sum over micro-batches.
  virtual void accumulate_shard(int bucket, View reduced);
  /// Updates this rank's slice of every bucket with the optimizer.
  virtual void update_owned(View factor, const StepSettings& settings);
  /// Gives every rank the whole of every updated bucket.
  virtual void publish();

  int rank() const { return parts_.comm.rank(); }
  /// Buckets take turns in the buffers.
  std::size_t buffer_of(int bucket) const {
    return static_cast<std::size_t>(bucket) % buckets_.size();
  }

  StageParts parts_;
  Partition partition_;
  Buffer parameters_;                // (flat) all parameters
  Buffer gradients_;                 // (flat/N) this rank's shard of the gradients
  FrozenParameters frozen_;          // (frozen) parameters that are not trained, whole
  GradientPayload payload_;          // (largest bucket), where gradients travel in another type
  GradientAccumulator accumulator_;  // (flat/N) sums over micro-batches
  std::unique_ptr<Optimizer> optimizer_;  // states of (flat/N) elements
  std::vector<OwnedSlice> owned_parameters_, owned_gradients_;
  std::vector<Buffer> unit_gradients_;  // by unit: (unit) between backward and the buckets
  std::vector<Buffer> buckets_;         // (largest bucket) two with overlap, one without
  std::vector<Event> bucket_free_;      // by buffer: its reduction
  Completion completion_;
  MicroBatch micro_batch_;
  Event reduced_;                 // the last bucket's reduction
  std::vector<Event> published_;  // by bucket: its parameters are whole again
};

}  // namespace zerolab
