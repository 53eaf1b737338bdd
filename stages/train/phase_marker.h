/// \file
/// Tells the ledgers what the rank is doing: "step 3 backward h.2", and with gradient accumulation
/// "step 3 micro-batch 1 backward h.2".
#pragma once

#include <string>

#include "stages/comm/communicator.h"
#include "stages/memory/ledger.h"
#include "stages/parallel/forwarding_stage.h"

namespace zerolab {

/// Stamps the memory and the communication ledger at each visit of a unit.
class PhaseMarker final : public ForwardingStage {
 public:
  PhaseMarker(Stage& inner, const ParameterLayout& layout, MemoryLedger& memory, Communicator& comm)
      : ForwardingStage(inner), layout_(layout), memory_(memory), comm_(comm) {}

  /// From now on the rank works on this step ("step 3", "evaluation after step 20").
  void set_step(std::string step) {
    step_ = std::move(step);
    micro_batch_.clear();
    mark(step_);
  }

  void begin(const MicroBatch& micro_batch) override {
    if (micro_batch.count > 1) {
      micro_batch_ = fmt::format(" micro-batch {}", micro_batch.index);
      mark(step_ + micro_batch_);
    }
    inner_.begin(micro_batch);
  }

  UnitView acquire(const Use& use) override {
    mark(fmt::format("{}{} {} {}", step_, micro_batch_, zerolab::name_of(use.phase),
                     layout_.unit(use.unit).name));
    return inner_.acquire(use);
  }
  void step(const StepSettings& settings) override {
    mark(step_ + " optimizer");
    inner_.step(settings);
  }

 private:
  void mark(const std::string& moment) {
    memory_.set_moment(moment);
    comm_.set_phase(moment);
  }

  const ParameterLayout& layout_;
  MemoryLedger& memory_;
  Communicator& comm_;
  std::string step_;
  std::string micro_batch_;
};

}  // namespace zerolab
