// Plain data parallelism that reduces one unit at a time: a stage written outside of zerolab.
#pragma once

#include <memory>

#include "stages/parallel/completion.h"
#include "stages/parallel/frozen_parameters.h"
#include "stages/parallel/stage_parts.h"
#include "stages/stage.h"

/// DDP without buckets: as soon as backward has completed a unit (a transformer block, say), the
/// unit's whole gradient is all-reduced while backward goes on. One message a unit, whatever its
/// size: simple, and wasteful for small units.
class UnitByUnit : public zerolab::Stage {
 public:
  explicit UnitByUnit(zerolab::StageParts parts);

  std::string_view name() const override { return "ddp-unit-by-unit"; }

  void begin(const zerolab::MicroBatch& micro_batch) override;
  zerolab::UnitView acquire(const zerolab::Use& use) override;
  void release(const zerolab::Use&) override {}
  zerolab::View gradients(const zerolab::Use& use) override;
  void gradients_ready(const zerolab::Use& use) override;
  void step(const zerolab::StepSettings& settings) override;

  zerolab::View norm_and_factor() const override { return parts_.clipper.norm_and_factor(); }
  void visit_owned(zerolab::Category category, const zerolab::OwnedVisitor& visitor) override;

 protected:
  /// Sums one unit's gradient over the ranks, on the communication stream.
  virtual void reduce_unit(zerolab::UnitId unit);

  zerolab::StageParts parts_;
  zerolab::Partition units_;                       // where each unit lies; nothing is cut
  zerolab::Buffer parameters_;                     // (flat) all parameters
  zerolab::Buffer gradients_;                      // (flat) all gradients
  zerolab::FrozenParameters frozen_;               // what is not trained, whole
  zerolab::GradientAccumulator accumulator_;       // (flat) sums over micro-batches
  std::unique_ptr<zerolab::Optimizer> optimizer_;  // states of (flat) elements
  zerolab::Completion completion_;
  zerolab::MicroBatch micro_batch_;
  zerolab::Event reduced_;  // the last unit's reduction
};
