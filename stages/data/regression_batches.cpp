#include "stages/data/regression_batches.h"

#include <algorithm>
#include <cstring>

#include "stages/core/error.h"
#include "stages/core/philox.h"
#include "stages/data/random_streams.h"

namespace zerolab {

namespace {

constexpr std::int64_t kFirstHeldOut = std::int64_t{1} << 62;
constexpr std::int64_t kHeldOutBatches = 4;
constexpr float kNoise = 0.1F;

void check_extent(const char* what, std::int64_t value) {
  if (value < 1) bad_input("[data] {} is {}; it must be at least 1", what, value);
}

/// `out[j]` from N(0, 1), a function of (seed, stream, sample, j).
void draw_normals(std::uint64_t seed, std::uint32_t stream, std::int64_t sample,
                  std::vector<float>& out) {
  const auto number = static_cast<std::uint64_t>(sample);
  for (std::size_t j = 0; j < out.size(); j += 4) {
    const auto four =
        normals({static_cast<std::uint32_t>(j / 4), static_cast<std::uint32_t>(number),
                 static_cast<std::uint32_t>(number >> 32U), stream},
                philox_key(seed));
    std::copy_n(four.begin(), std::min<std::size_t>(4, out.size() - j),
                out.begin() + static_cast<std::ptrdiff_t>(j));
  }
}

}  // namespace

RegressionBatches::RegressionBatches(const RegressionSettings& settings) : settings_(settings) {
  check_extent("the width", settings.width);
  check_extent("the micro-batch", settings.batch);
  check_extent("the number of micro-batches a step", settings.micro_batches_per_step);
}

BatchShape RegressionBatches::shape() const {
  const std::int64_t count = settings_.batch * settings_.width;
  return {DType::kFloat32, count, count};
}

void RegressionBatches::training(std::int64_t step, std::int64_t global_micro_batch,
                                 HostBatch& batch) const {
  const std::int64_t step_first = (step - 1) * settings_.micro_batches_per_step * settings_.batch;
  draw(step_first + global_micro_batch * settings_.batch, batch);
  batch.first_sample = global_micro_batch * settings_.batch;
}

std::int64_t RegressionBatches::held_out_count() const { return kHeldOutBatches; }

void RegressionBatches::held_out(std::int64_t index, HostBatch& batch) const {
  require(index >= 0 && index < kHeldOutBatches, "[data] there is no held-out micro-batch {}",
          index);
  draw(kFirstHeldOut + index * settings_.batch, batch);
  batch.first_sample = index * settings_.batch;
}

void RegressionBatches::draw(std::int64_t first_sample, HostBatch& batch) const {
  const auto width = static_cast<std::size_t>(settings_.width);
  const auto rows = static_cast<std::size_t>(settings_.batch);
  const std::size_t row_bytes = width * sizeof(float);
  batch.inputs.resize(rows * row_bytes);
  batch.targets.resize(rows * row_bytes);
  batch.positions.clear();
  std::vector<float> x(width), y(width);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::int64_t sample = first_sample + static_cast<std::int64_t>(row);
    draw_normals(settings_.seed, kRegressionInputStream, sample, x);
    draw_normals(settings_.seed, kRegressionNoiseStream, sample, y);
    for (std::size_t j = 0; j < width; ++j) y[j] = 0.5F * x[(j + 1) % width] + kNoise * y[j];
    std::memcpy(batch.inputs.data() + row * row_bytes, x.data(), row_bytes);
    std::memcpy(batch.targets.data() + row * row_bytes, y.data(), row_bytes);
    batch.positions.push_back(sample);
  }
}

}  // namespace zerolab
