#include "stages/data/token_batches.h"

#include <algorithm>
#include <cstring>

#include "stages/core/error.h"
#include "stages/data/permutation.h"

namespace zerolab {

namespace {

void check_extent(const char* what, std::int64_t value) {
  if (value < 1) bad_input("[data] {} is {}; it must be at least 1", what, value);
}

/// Windows of T + 1 tokens that begin T apart.
std::int64_t windows_in(Range part, std::int64_t time) {
  return part.size() > time ? (part.size() - 1) / time : 0;
}

}  // namespace

TokenBatches::TokenBatches(const TokenSource& tokens, const TokenBatchSettings& settings)
    : tokens_(tokens), settings_(settings), split_(split_tokens(tokens.size())) {
  check_extent("the micro-batch", settings.batch);
  check_extent("the sequence length", settings.time);
  check_extent("the number of micro-batches a step", settings.micro_batches_per_step);
  windows_ = windows_in(split_.training, settings.time);
  held_out_windows_ = windows_in(split_.held_out, settings.time);
  if (windows_ == 0) {
    bad_input(
        "[data] the data's training part (the first 90 % of {} tokens) has {} tokens; "
        "sequences of {} need {}: give more data or choose a shorter sequence",
        tokens.size(), split_.training.size(), settings.time, settings.time + 1);
  }
}

BatchShape TokenBatches::shape() const {
  const std::int64_t count = settings_.batch * settings_.time;
  return {DType::kInt32, count, count};
}

std::int64_t TokenBatches::steps_per_pass() const {
  const std::int64_t global_batch = settings_.micro_batches_per_step * settings_.batch;
  return std::max<std::int64_t>(1, windows_ / global_batch);
}

std::int64_t TokenBatches::position(std::int64_t step, std::int64_t sequence) const {
  const std::int64_t global_batch = settings_.micro_batches_per_step * settings_.batch;
  require(step >= 1 && sequence >= 0 && sequence < global_batch,
          "[data] there is no sequence {} in step {}", sequence, step);
  const std::int64_t pass = (step - 1) / steps_per_pass();
  const std::int64_t step_in_pass = (step - 1) % steps_per_pass();
  const Permutation order(windows_, settings_.seed, static_cast<std::uint32_t>(pass));
  const std::int64_t window = order((step_in_pass * global_batch + sequence) % windows_);
  return split_.training.begin + window * settings_.time;
}

void TokenBatches::training(std::int64_t step, std::int64_t global_micro_batch,
                            HostBatch& batch) const {
  batch.positions.clear();
  batch.first_sample = global_micro_batch * settings_.batch;
  for (std::int64_t b = 0; b < settings_.batch; ++b) {
    batch.positions.push_back(position(step, global_micro_batch * settings_.batch + b));
  }
  read(batch);
}

std::int64_t TokenBatches::held_out_count() const {
  return held_out_windows_ == 0 ? 0
                                : std::max<std::int64_t>(1, held_out_windows_ / settings_.batch);
}

void TokenBatches::held_out(std::int64_t index, HostBatch& batch) const {
  require(index >= 0 && index < held_out_count(), "[data] there is no held-out micro-batch {}",
          index);
  batch.positions.clear();
  batch.first_sample = index * settings_.batch;
  for (std::int64_t b = 0; b < settings_.batch; ++b) {
    const std::int64_t window = (index * settings_.batch + b) % held_out_windows_;
    batch.positions.push_back(split_.held_out.begin + window * settings_.time);
  }
  read(batch);
}

void TokenBatches::read(HostBatch& batch) const {
  const auto time = static_cast<std::size_t>(settings_.time);
  const std::size_t row_bytes = time * sizeof(std::int32_t);
  batch.inputs.resize(batch.positions.size() * row_bytes);
  batch.targets.resize(batch.positions.size() * row_bytes);
  std::vector<std::int32_t> window(time + 1);
  for (std::size_t row = 0; row < batch.positions.size(); ++row) {
    tokens_.read(batch.positions[row], window);
    std::memcpy(batch.inputs.data() + row * row_bytes, window.data(), row_bytes);
    std::memcpy(batch.targets.data() + row * row_bytes, window.data() + 1, row_bytes);
  }
}

}  // namespace zerolab
