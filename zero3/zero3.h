/// \file
/// ZeRO stage 3 (P_os+g+p): optimizer states, gradients and parameters are partitioned.
#pragma once

#include <memory>
#include <vector>

#include "stages/parallel/completion.h"
#include "stages/parallel/frozen_parameters.h"
#include "stages/parallel/stage_parts.h"
#include "stages/stage.h"

namespace zerolab {

/// ZeRO-3 (Rajbhandari et al. 2020, section 5.3, P_os+g+p): each rank keeps 1/N of every unit. A
/// unit's parameters are gathered just before it is used and freed right after; its gradient is
/// reduced to the owners as soon as it is complete.
///
/// Held by each rank, in elements of Ψ: all states 1/N, besides the gathered units (two with
/// overlap: the one in use and the next) and the gradients of units in backward. Sent: two
/// all-gathers and one reduce-scatter, 3(N−1)/N·Ψ a micro-batch (section 7.2.2).
class Zero3 : public Stage {
 public:
  explicit Zero3(StageParts parts);

  std::string_view name() const override { return "zero3"; }

  void begin(const MicroBatch& micro_batch) override;
  UnitView acquire(const Use& use) override;
  void release(const Use& use) override;
  View gradients(const Use& use) override;
  void gradients_ready(const Use& use) override;
  void step(const StepSettings& settings) override;

  View norm_and_factor() const override { return parts_.clipper.norm_and_factor(); }
  void visit_owned(Category category, const OwnedVisitor& visitor) override;

 protected:
  /// Starts to gather a unit's parameters, on the communication stream.
  virtual void gather(UnitId unit);
  /// Gathers the unit that will be read after the present one.
  virtual void prefetch();
  /// Sums one unit's gradient over the ranks into this rank's shard, on the communication stream.
  virtual void reduce_unit(UnitId unit);
  /// Adds the reduced slice of the unit to the sum over micro-batches.
  virtual void accumulate_shard(UnitId unit, View reduced);
  /// Updates this rank's slice of every unit with the optimizer.
  virtual void update_owned(View factor, const StepSettings& settings);

  int rank() const { return parts_.comm.rank(); }

  /// A unit's full parameters while they are needed.
  struct Gathered {
    Buffer parameters, frozen;
    Event arrived;

    bool empty() const { return parameters.empty() && frozen.empty(); }
    void free() {
      parameters.reset();
      frozen.reset();
    }
  };

  StageParts parts_;
  Partition partition_;
  Buffer parameters_;                     // (flat/N) this rank's shard of the parameters
  Buffer gradients_;                      // (flat/N) this rank's shard of the gradients
  FrozenShard frozen_;                    // (frozen/N) of parameters that are not trained
  GradientPayload payload_;               // (largest unit), where gradients travel in another type
  GradientAccumulator accumulator_;       // (flat/N) sums over micro-batches
  std::unique_ptr<Optimizer> optimizer_;  // states of (flat/N) elements
  std::vector<OwnedSlice> owned_parameters_, owned_gradients_;
  std::vector<Gathered> gathered_;      // by unit
  std::vector<Buffer> unit_gradients_;  // by unit: between backward and the reduction
  Completion completion_;
  MicroBatch micro_batch_;
  std::size_t position_ = 0;  // in the micro-batch's uses
  Event reduced_;             // the last unit's reduction
};

}  // namespace zerolab
