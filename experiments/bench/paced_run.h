/// \file
/// A training run that trains a few steps whenever it is told to.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "experiments/runner/rank_run.h"
#include "experiments/runner/run_inputs.h"

namespace zerolab {

/// Where the ranks of a run wait until they may go on, and report that they have ended.
class PaceGate {
 public:
  explicit PaceGate(int ranks) : ranks_(ranks) {}

  /// Of the measuring thread: lets every rank train `steps` more.
  void open(std::int64_t steps);
  /// Returns the seconds from `open` (or from the beginning) until the last rank arrived.
  /// \throws what went wrong on a rank.
  double wait_for_ranks();
  /// Whoever waits, or comes to wait, stops by an exception.
  void stop();
  void fail(std::exception_ptr failure);

  /// Of a rank: it has trained what it was allowed to.
  void arrive();
  /// How many steps are allowed by now, above `trained`. \throws Stopped
  std::int64_t wait_for_more(std::int64_t trained);

  /// How a run that is no longer needed unwinds.
  struct Stopped : std::exception {};

 private:
  using Clock = std::chrono::steady_clock;

  const int ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t allowed_ = 0;
  int arrived_ = 0;
  bool stopped_ = false;
  std::exception_ptr failure_;
  Clock::time_point opened_ = Clock::now();
  Clock::time_point last_arrival_;
};

/// The real training loop on thread ranks, without checks, clipping and evaluation: stage, model
/// and data stay in place between measurements, so that two runs can take turns. Waiting costs no
/// processor time.
class PacedRun {
 public:
  /// Builds everything and returns when all ranks are ready to train. The configuration's ranks,
  /// model, batch, sequence, threads and bucket count. \throws BadInput, Failure
  PacedRun(RunConfig config, const std::string& stage);
  PacedRun(const PacedRun&) = delete;
  PacedRun& operator=(const PacedRun&) = delete;
  ~PacedRun();

  /// Trains and returns the seconds until the last rank has ended, its communication included.
  /// \throws what goes wrong on a rank.
  double train(std::int64_t steps) {
    begin(steps);
    return finish();
  }
  /// The same in two halves, for runs that train at the same time.
  void begin(std::int64_t steps) { gate_.open(steps); }
  double finish() { return gate_.wait_for_ranks(); }

  std::int64_t tokens_per_step() const;
  /// Steps that take about `seconds`, at least one; trains two to find out.
  std::int64_t steps_in(double seconds);

 private:
  void run();

  RunConfig config_;
  ModelSpec model_;
  RunData data_;
  StageRun run_;
  PaceGate gate_;
  std::thread thread_;  // last: it uses everything above
};

}  // namespace zerolab
