#include "experiments/bench/paced_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace zerolab {
namespace {

/// Sees to it that one rank trains only what the gate allows.
class Pace final : public TrainObserver {
 public:
  Pace(PaceGate& gate, const CheckContext& context)
      : gate_(gate), compute_(context.compute), comm_(context.comm) {}

  void started(Stage&) override { pause(); }
  void step_ended(const StepRecord&, Stage&) override {
    if (++trained_ == allowed_) pause();
  }

 private:
  void pause() {
    // What a stage publishes after the step belongs to the step.
    comm_.stream().synchronize();
    compute_.synchronize();
    gate_.arrive();
    allowed_ = gate_.wait_for_more(trained_);
  }

  PaceGate& gate_;
  Stream& compute_;
  Communicator& comm_;
  std::int64_t trained_ = 0;
  std::int64_t allowed_ = 0;
};

RunConfig without_end(RunConfig config) {
  config.steps = std::numeric_limits<std::int64_t>::max() / 2;
  config.stop_after = 0;
  config.evaluate_every = 0;
  config.checks.clear();
  config.clip = 0;
  config.trace = false;
  return config;
}

}  // namespace

void PaceGate::open(std::int64_t steps) {
  const std::scoped_lock lock(mutex_);
  arrived_ = 0;
  allowed_ += steps;
  opened_ = Clock::now();
  changed_.notify_all();
}

double PaceGate::wait_for_ranks() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return arrived_ == ranks_ || failure_; });
  if (failure_) std::rethrow_exception(failure_);
  return std::chrono::duration<double>(last_arrival_ - opened_).count();
}

void PaceGate::stop() {
  const std::scoped_lock lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

void PaceGate::fail(std::exception_ptr failure) {
  const std::scoped_lock lock(mutex_);
  if (!failure_) failure_ = std::move(failure);
  stopped_ = true;  // ranks that wait here would never hear of it
  changed_.notify_all();
}

void PaceGate::arrive() {
  const std::scoped_lock lock(mutex_);
  last_arrival_ = Clock::now();
  if (++arrived_ == ranks_) changed_.notify_all();
}

std::int64_t PaceGate::wait_for_more(std::int64_t trained) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return allowed_ > trained || stopped_; });
  if (stopped_) throw Stopped();
  return allowed_;
}

PacedRun::PacedRun(RunConfig config, const std::string& stage)
    : config_(without_end(std::move(config))),
      model_(model_of(config_)),
      data_(config_, model_),
      gate_(config_.ranks) {
  run_.name = run_.stage = stage;
  run_.factory = stage_factory(stage);
  run_.order = config_.accumulation_order;
  run_.observers = [this](const CheckContext& context) {
    std::vector<std::unique_ptr<TrainObserver>> observers;
    observers.push_back(std::make_unique<Pace>(gate_, context));
    return observers;
  };
  thread_ = std::thread([this] { run(); });
  try {
    gate_.wait_for_ranks();
  } catch (...) {
    thread_.join();
    throw;
  }
}

PacedRun::~PacedRun() {
  gate_.stop();
  thread_.join();
}

void PacedRun::run() {
  const RunInputs inputs{config_, model_, &data_.batches(), nullptr};
  try {
    make_thread_world(config_.ranks)->run([&](RankContext& ranks) {
      try {
        run_rank(ranks, inputs, run_);
      } catch (const PaceGate::Stopped&) {
        throw;
      } catch (const Aborted&) {  // another rank has told the gate
        throw;
      } catch (...) {
        gate_.fail(std::current_exception());
        throw;
      }
    });
  } catch (const PaceGate::Stopped&) {
  } catch (...) {
    gate_.fail(std::current_exception());
  }
}

std::int64_t PacedRun::tokens_per_step() const {
  return data_.batches().shape().targets * config_.ranks * config_.accumulate;
}

std::int64_t PacedRun::steps_in(double seconds) {
  train(1);  // touches all memory
  return std::max<std::int64_t>(1, std::llround(seconds / train(1)));
}

}  // namespace zerolab
