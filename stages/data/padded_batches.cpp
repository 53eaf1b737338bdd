#include "stages/data/padded_batches.h"

#include <cstring>
#include <vector>

#include "stages/core/error.h"
#include "stages/core/philox.h"
#include "stages/data/random_streams.h"

namespace zerolab {

namespace {

constexpr std::int64_t kHeldOutStep = 0;

std::uint32_t low(std::int64_t value) { return static_cast<std::uint32_t>(value); }

}  // namespace

PaddedBatches::PaddedBatches(std::unique_ptr<BatchSource> tokens, const PaddingSettings& settings)
    : tokens_(std::move(tokens)),
      settings_(settings),
      time_(tokens_->shape().targets / settings.batch) {
  if (!(settings.part >= 0 && settings.part <= 1)) {
    bad_input("[data] {} of a sequence may be padding; give a part between 0 and 1", settings.part);
  }
  least_ = time_ - static_cast<std::int64_t>(settings.part * static_cast<double>(time_));
}

BatchShape PaddedBatches::shape() const {
  BatchShape shape = tokens_->shape();
  shape.uneven = true;
  return shape;
}

std::int64_t PaddedBatches::valid(std::int64_t step, std::int64_t sample) const {
  const auto bits = philox({low(sample), low(sample >> 32), low(step), kPaddingStream},
                           philox_key(settings_.seed))[0];
  const auto lengths = static_cast<std::uint64_t>(time_ - least_ + 1);
  return least_ + static_cast<std::int64_t>((bits * lengths) >> 32U);
}

std::int64_t PaddedBatches::valid_of(std::int64_t step, std::int64_t micro_batch) const {
  std::int64_t sum = 0;
  for (std::int64_t b = 0; b < settings_.batch; ++b) {
    sum += valid(step, micro_batch * settings_.batch + b);
  }
  return sum;
}

std::int64_t PaddedBatches::valid_targets(std::int64_t step, std::int64_t micro_batch) const {
  return valid_of(step, micro_batch);
}

std::int64_t PaddedBatches::valid_held_out(std::int64_t index) const {
  return valid_of(kHeldOutStep, index);
}

void PaddedBatches::training(std::int64_t step, std::int64_t global_micro_batch,
                             HostBatch& batch) const {
  tokens_->training(step, global_micro_batch, batch);
  pad(step, batch);
}

void PaddedBatches::held_out(std::int64_t index, HostBatch& batch) const {
  tokens_->held_out(index, batch);
  pad(kHeldOutStep, batch);
}

void PaddedBatches::pad(std::int64_t step, HostBatch& batch) const {
  const std::vector<std::int32_t> ignored(static_cast<std::size_t>(time_ - least_), -1);
  for (std::int64_t b = 0; b < settings_.batch; ++b) {
    const std::int64_t count = valid(step, batch.first_sample + b);
    const auto begin = static_cast<std::size_t>(b * time_ + count) * sizeof(std::int32_t);
    const auto bytes = static_cast<std::size_t>(time_ - count) * sizeof(std::int32_t);
    if (bytes > 0) std::memcpy(batch.targets.data() + begin, ignored.data(), bytes);
  }
}

}  // namespace zerolab
