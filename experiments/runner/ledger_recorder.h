/// \file
/// Reads the ledgers at the right moments of training.
#pragma once

#include "experiments/runner/results.h"
#include "stages/comm/communicator.h"
#include "stages/device/device.h"

namespace zerolab {

/// Separates training from evaluation in the communication ledger, and keeps the events of the last
/// step for pictures and walkthroughs.
class LedgerRecorder final : public TrainObserver {
 public:
  LedgerRecorder(Device& device, Communicator& comm, std::int64_t last_step)
      : device_(device), comm_(comm), last_step_(last_step) {}

  void started(Stage&) override { at_start_ = comm_.ledger().totals(); }
  void step_begins(std::int64_t step, Stage&) override {
    if (step == last_step_) {
      // The worker may still publish the step before; its calls are not of this step.
      comm_.stream().synchronize();
      keep(true);
    }
    held_before_ = device_.ledger().held();
  }
  void evaluation_begins(std::int64_t) override {
    keep(false);
    before_evaluation_ = comm_.ledger().totals();
  }
  void evaluation_ended(std::int64_t) override {
    ++evaluations_;
    add(evaluation_, comm_.ledger().totals(), before_evaluation_);
  }

  /// Both streams must be idle.
  void contribute(RankResult& result);

 private:
  void keep(bool on) {
    device_.ledger().record_events(on);
    comm_.ledger().keep_records(on);
  }
  /// sum += later − earlier
  static void add(CommLedger::Table& sum, const CommLedger::Table& later,
                  const CommLedger::Table& earlier);

  Device& device_;
  Communicator& comm_;
  std::int64_t last_step_;
  CommLedger::Table at_start_{}, before_evaluation_{}, evaluation_{};
  std::int64_t evaluations_ = 0;
  CategoryBytes held_before_{};
};

}  // namespace zerolab
