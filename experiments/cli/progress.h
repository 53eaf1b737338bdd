/// \file
/// How far a run has come, for a person who waits.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "experiments/cli/console.h"
#include "stages/train/step_record.h"

namespace zerolab {

/// On a terminal one line, redrawn; elsewhere a line every ten steps. For one rank of a run.
class Progress final : public TrainObserver {
 public:
  /// `run`: "zero2"; `steps`: how many there will be.
  Progress(Console& console, std::string run, std::int64_t steps);
  ~Progress() override;

  void step_ended(const StepRecord& record, Stage& stage) override;

 private:
  using Clock = std::chrono::steady_clock;
  void print(const StepRecord& record);

  Console& console_;
  std::string run_;
  std::int64_t steps_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point drawn_{};
  double training_seconds_ = 0;  // evaluation not included
  std::int64_t tokens_ = 0;
  bool line_open_ = false;  // on a terminal: the cursor stands behind the line
};

/// "0:07", "12:30", "1:02:03"
std::string format_duration(double seconds);

}  // namespace zerolab
