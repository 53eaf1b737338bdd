/// \file
/// A stage that hands every call on to another: the base of probes and markers.
#pragma once

#include "stages/stage.h"

namespace zerolab {

/// Derive, override the calls of interest, and call the base to hand them on.
class ForwardingStage : public Stage {
 public:
  explicit ForwardingStage(Stage& inner) : inner_(inner) {}

  std::string_view name() const override { return inner_.name(); }
  void begin(const MicroBatch& micro_batch) override { inner_.begin(micro_batch); }
  UnitView acquire(const Use& use) override { return inner_.acquire(use); }
  void release(const Use& use) override { inner_.release(use); }
  View gradients(const Use& use) override { return inner_.gradients(use); }
  void gradients_ready(const Use& use) override { inner_.gradients_ready(use); }
  void step(const StepSettings& settings) override { inner_.step(settings); }
  View norm_and_factor() const override { return inner_.norm_and_factor(); }
  void visit_owned(Category category, const OwnedVisitor& visitor) override {
    inner_.visit_owned(category, visitor);
  }

 protected:
  Stage& inner_;
};

}  // namespace zerolab
