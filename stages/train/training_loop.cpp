#include "stages/train/training_loop.h"

#include <chrono>
#include <cmath>

namespace zerolab {
namespace {

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

TrainingLoop::TrainingLoop(Parts parts, TrainingSettings settings,
                           std::vector<TrainObserver*> observers)
    : parts_(parts),
      settings_(settings),
      observers_(std::move(observers)),
      marked_(parts.stage, parts.model.layout(), parts.device.ledger(), parts.comm) {
  const auto allocate = [&](std::int64_t count, const char* name) {
    return parts_.device.allocate(DType::kFloat64, count, Category::kWorkspace, name,
                                  parts_.compute);
  };
  const std::int64_t ranks = parts_.comm.world_size();
  losses_ = allocate(settings_.micro_batches, "losses");
  all_losses_ = allocate(settings_.micro_batches * ranks, "losses of all ranks");
  if (settings_.evaluate_every > 0) {
    const std::int64_t each = ceil_divide(settings_.held_out_batches, ranks);
    held_out_ = allocate(each, "held-out losses");
    all_held_out_ = allocate(each * ranks, "held-out losses of all ranks");
  }
}

void TrainingLoop::run() {
  for (TrainObserver* observer : observers_) observer->started(marked_);
  for (std::int64_t step = 1; step <= settings_.steps; ++step) {
    StepRecord record = train_step(step);
    const bool last = step == settings_.steps;
    if (settings_.evaluate_every > 0 && (step % settings_.evaluate_every == 0 || last)) {
      marked_.set_step(fmt::format("evaluation after step {}", step));
      // Apart from training in the ledgers, so nothing of the step may still be on its way.
      parts_.comm.stream().synchronize();
      for (TrainObserver* observer : observers_) observer->evaluation_begins(step);
      record.held_out_loss = evaluate();
      parts_.comm.stream().synchronize();
      for (TrainObserver* observer : observers_) observer->evaluation_ended(step);
    }
    for (TrainObserver* observer : observers_) observer->step_ended(record, marked_);
  }
  for (TrainObserver* observer : observers_) observer->ended(marked_);
}

StepRecord TrainingLoop::train_step(std::int64_t step) {
  const auto start = std::chrono::steady_clock::now();
  const int ranks = parts_.comm.world_size();
  const std::int64_t per_step = std::int64_t{ranks} * settings_.micro_batches;
  marked_.set_step(fmt::format("step {}", step));
  for (TrainObserver* observer : observers_) observer->step_begins(step, marked_);

  StepRecord record;
  record.step = step;
  record.tokens = parts_.data.tokens() * per_step;
  record.loss_scale = settings_.loss_scaler.scale();
  for (int m = 0; m < settings_.micro_batches; ++m) {
    const std::int64_t global_index = std::int64_t{m} * ranks + parts_.comm.rank();
    Batch batch = parts_.data.training(step, global_index);
    batch.loss_scale = static_cast<float>(record.loss_scale);
    const std::vector<std::int64_t>& positions = parts_.data.positions();
    record.positions.insert(record.positions.end(), positions.begin(), positions.end());

    const bool reduce =
        settings_.order == AccumulationOrder::kReduced || m + 1 == settings_.micro_batches;
    marked_.begin({m, settings_.micro_batches, reduce, parts_.model.training_uses()});
    const View loss = parts_.model.forward_backward(marked_, batch);
    parts_.kernels.copy(parts_.compute, loss, losses_.slice(m, 1));
  }
  for (TrainObserver* observer : observers_) observer->gradients_complete(step, marked_);

  // The losses travel before the stage publishes, so that the host need not wait for that.
  gather(losses_.view(), all_losses_.view(), "losses");
  // Schedule and bias correction count updates, so a skipped step repeats their values.
  const std::int64_t update = updates_ + 1;
  record.learning_rate = static_cast<float>(settings_.schedule.learning_rate(update));
  marked_.step(
      {update, record.learning_rate, 1.0 / (static_cast<double>(per_step) * record.loss_scale)});

  parts_.kernels.download(parts_.compute, marked_.norm_and_factor(), norm_and_factor_);
  double sum = 0;
  for (const double loss : by_global_index(all_losses_.view())) sum += loss;
  record.loss = sum / static_cast<double>(per_step * parts_.model.loss_terms());
  record.grad_norm = norm_and_factor_[0];
  record.factor = norm_and_factor_[1];
  record.skipped = !std::isfinite(record.factor);
  settings_.loss_scaler.update(record.skipped);
  if (!record.skipped) updates_ = update;
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return record;
}

double TrainingLoop::evaluate() {
  const int ranks = parts_.comm.world_size();
  const std::int64_t wanted = settings_.held_out_batches;
  for (std::int64_t m = 0; m < held_out_.count(); ++m) {
    // Ranks without a batch of their own left still take part in the stage's collectives.
    const std::int64_t index = (m * ranks + parts_.comm.rank()) % wanted;
    marked_.begin({0, 1, true, parts_.model.evaluation_uses()});
    const View loss = parts_.model.evaluate(marked_, parts_.data.held_out(index));
    parts_.kernels.copy(parts_.compute, loss, held_out_.slice(m, 1));
  }
  gather(held_out_.view(), all_held_out_.view(), "held-out losses");
  const std::vector<double> losses = by_global_index(all_held_out_.view());
  double sum = 0;
  for (std::int64_t g = 0; g < wanted; ++g) sum += losses[static_cast<std::size_t>(g)];
  return sum / static_cast<double>(wanted * parts_.model.loss_terms());
}

void TrainingLoop::gather(View mine, View all, const char* what) {
  parts_.comm.wait(parts_.compute.record(), what);
  parts_.comm.all_gather(mine, all, {what, Traffic::kControl, ""});
  parts_.compute.wait(parts_.comm.record(), what);
}

std::vector<double> TrainingLoop::by_global_index(View all) {
  std::vector<double> by_rank(static_cast<std::size_t>(all.count));
  parts_.kernels.download(parts_.compute, all, by_rank.data());
  parts_.compute.synchronize();

  std::vector<double> by_index(by_rank.size());
  const auto ranks = static_cast<std::size_t>(parts_.comm.world_size());
  const std::size_t each = by_rank.size() / ranks;
  for (std::size_t r = 0; r < ranks; ++r) {
    for (std::size_t m = 0; m < each; ++m) by_index[m * ranks + r] = by_rank[r * each + m];
  }
  return by_index;
}

}  // namespace zerolab
