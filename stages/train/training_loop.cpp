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
  losses_ = allocate(settings_.micro_batches, "losses");
  if (settings_.evaluate_every > 0) {
    held_out_ = allocate(ceil_divide(settings_.held_out_batches, parts_.comm.world_size()),
                         "held-out losses");
  }
}

TrainingLoop::Scalars TrainingLoop::allocate(std::int64_t micro_batches, const char* name) {
  const std::int64_t count = micro_batches * (parts_.data.uneven() ? 2 : 1);
  const auto buffer = [&](std::int64_t size, std::string what) {
    return parts_.device.allocate(DType::kFloat64, size, Category::kWorkspace, std::move(what),
                                  parts_.compute);
  };
  return {buffer(count, name),
          buffer(count * parts_.comm.world_size(), fmt::format("{} of all ranks", name)),
          std::vector<std::int64_t>(static_cast<std::size_t>(micro_batches))};
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
  record.loss_scale = settings_.loss_scaler.scale();
  for (int m = 0; m < settings_.micro_batches; ++m) {
    losses_.valid[static_cast<std::size_t>(m)] = parts_.data.valid(step, global_index(m));
  }
  const std::int64_t terms = parts_.model.loss_terms();
  const float weight = parts_.weighting.of_micro_batch(losses_.valid, terms);
  for (int m = 0; m < settings_.micro_batches; ++m) train_micro_batch(step, m, weight, record);
  for (TrainObserver* observer : observers_) observer->gradients_complete(step, marked_);

  // The losses travel before the stage publishes, so that the host need not wait for that.
  gather(losses_, "losses");
  Sums sums{0, terms * per_step};
  if (parts_.data.uneven()) sums = add_up(losses_, per_step);
  if (sums.valid == 0) {
    bad_input("[data] no token of step {}'s global batch counts; give less padding", step);
  }
  record.tokens = sums.valid;
  // Schedule and bias correction count updates, so a skipped step repeats their values.
  const std::int64_t update = updates_ + 1;
  record.learning_rate = static_cast<float>(settings_.schedule.learning_rate(update));
  const double mean = parts_.weighting.gradient_scale(terms, sums.valid, per_step);
  marked_.step({update, record.learning_rate, mean / record.loss_scale});

  parts_.kernels.download(parts_.compute, marked_.norm_and_factor(), norm_and_factor_);
  if (parts_.data.uneven()) {
    parts_.compute.synchronize();
  } else {
    sums.loss = add_up(losses_, per_step).loss;
  }
  record.loss = sums.loss / static_cast<double>(sums.valid);
  record.grad_norm = norm_and_factor_[0];
  record.factor = norm_and_factor_[1];
  record.skipped = !std::isfinite(record.factor);
  settings_.loss_scaler.update(record.skipped);
  if (!record.skipped) updates_ = update;
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return record;
}

void TrainingLoop::train_micro_batch(std::int64_t step, int m, float weight, StepRecord& record) {
  Batch batch = parts_.data.training(step, global_index(m));
  batch.micro_batch = m;
  batch.weight = weight;
  batch.loss_scale = static_cast<float>(record.loss_scale);
  const std::vector<std::int64_t>& positions = parts_.data.positions();
  record.positions.insert(record.positions.end(), positions.begin(), positions.end());

  const bool reduce =
      settings_.order == AccumulationOrder::kReduced || m + 1 == settings_.micro_batches;
  marked_.begin({m, settings_.micro_batches, reduce, parts_.model.training_uses(m)});
  const View loss = parts_.model.forward_backward(marked_, batch);
  parts_.kernels.copy(parts_.compute, loss, losses_.mine.slice(m, 1));
}

double TrainingLoop::evaluate() {
  const std::int64_t wanted = settings_.held_out_batches;
  for (std::size_t m = 0; m < held_out_.valid.size(); ++m) {
    // Ranks without a batch of their own left still take part in the stage's collectives.
    const std::int64_t index = global_index(static_cast<std::int64_t>(m)) % wanted;
    held_out_.valid[m] = parts_.data.valid_held_out(index);
    marked_.begin({0, 1, true, parts_.model.evaluation_uses()});
    const View loss = parts_.model.evaluate(marked_, parts_.data.held_out(index));
    parts_.kernels.copy(parts_.compute, loss,
                        held_out_.mine.slice(static_cast<std::int64_t>(m), 1));
  }
  gather(held_out_, "held-out losses");
  const Sums sums = add_up(held_out_, wanted);
  if (sums.valid == 0) bad_input("[data] no token of the held-out loss counts; give less padding");
  return sums.loss / static_cast<double>(sums.valid);
}

std::int64_t TrainingLoop::global_index(std::int64_t m) const {
  return m * parts_.comm.world_size() + parts_.comm.rank();
}

void TrainingLoop::gather(Scalars& scalars, const char* what) {
  if (parts_.data.uneven()) {
    const std::vector<double> valid(scalars.valid.begin(), scalars.valid.end());
    const auto count = static_cast<std::int64_t>(valid.size());
    const View place = scalars.mine.slice(count, count);
    parts_.kernels.upload(parts_.compute, valid.data(), place.bytes(), place);
  }
  parts_.comm.wait(parts_.compute.record(), what);
  parts_.comm.all_gather(scalars.mine.view(), scalars.all.view(), {what, Traffic::kControl, ""});
  parts_.compute.wait(parts_.comm.record(), what);
}

TrainingLoop::Sums TrainingLoop::add_up(const Scalars& scalars, std::int64_t count) {
  std::vector<double> all(static_cast<std::size_t>(scalars.all.count()));
  parts_.kernels.download(parts_.compute, scalars.all.view(), all.data());
  parts_.compute.synchronize();

  const auto ranks = static_cast<std::size_t>(parts_.comm.world_size());
  const std::size_t of_rank = all.size() / ranks, each = scalars.valid.size();
  Sums sums;
  for (std::size_t g = 0; g < static_cast<std::size_t>(count); ++g) {
    const std::size_t place = g % ranks * of_rank + g / ranks;
    sums.loss += all[place];
    sums.valid += parts_.data.uneven() ? static_cast<std::int64_t>(all[place + each])
                                       : parts_.model.loss_terms();
  }
  return sums;
}

}  // namespace zerolab
