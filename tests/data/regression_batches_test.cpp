#include "stages/data/regression_batches.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <set>

#include "stages/core/error.h"

namespace zerolab {
namespace {

std::vector<float> floats(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

struct Step {
  std::vector<float> inputs, targets;
  std::vector<std::int64_t> positions;
};

Step whole_step(const RegressionSettings& settings, std::int64_t step) {
  const RegressionBatches batches(settings);
  Step result;
  HostBatch batch;
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (std::int64_t g = 0; g < settings.micro_batches_per_step; ++g) {
    batches.training(step, g, batch);
    append(result.inputs, floats(batch.inputs));
    append(result.targets, floats(batch.targets));
    append(result.positions, batch.positions);
  }
  return result;
}

TEST(RegressionBatches, AreTheSameForEveryShareOfTheGlobalBatch) {
  for (const std::int64_t step : {1, 2, 7}) {
    const Step expected = whole_step({5, 1, 12, 3}, step);
    const Step shared = whole_step({5, 4, 3, 3}, step);
    EXPECT_EQ(shared.inputs, expected.inputs);
    EXPECT_EQ(shared.targets, expected.targets);
    EXPECT_EQ(shared.positions, expected.positions);
  }
}

TEST(RegressionBatches, NeverRepeatASample) {
  std::set<std::int64_t> samples;
  std::set<float> first_features;
  for (std::int64_t step = 1; step <= 5; ++step) {
    const Step drawn = whole_step({5, 4, 3, 3}, step);
    samples.insert(drawn.positions.begin(), drawn.positions.end());
    for (std::size_t row = 0; row < 12; ++row) first_features.insert(drawn.inputs[5 * row]);
  }
  EXPECT_EQ(samples.size(), 60U);
  EXPECT_EQ(first_features.size(), 60U);
}

TEST(RegressionBatches, DifferBetweenSeeds) {
  EXPECT_NE(whole_step({5, 4, 3, 3}, 1).inputs, whole_step({5, 4, 3, 4}, 1).inputs);
}

TEST(RegressionBatches, HaveTargetsThatTheInputsExplainButForTheNoise) {
  const std::int64_t width = 7;
  const Step drawn = whole_step({width, 500, 1, 3}, 1);
  double noise = 0, input = 0;
  for (std::size_t i = 0; i < drawn.targets.size(); ++i) {
    const std::size_t row = i / width, shifted = row * width + (i + 1 - row * width) % width;
    noise += std::pow(drawn.targets[i] - 0.5F * drawn.inputs[shifted], 2);
    input += std::pow(drawn.inputs[i], 2);
  }
  const double n = static_cast<double>(drawn.targets.size());
  EXPECT_NEAR(noise / n, 0.01, 0.001);
  EXPECT_NEAR(input / n, 1.0, 0.1);
}

TEST(RegressionBatches, HoldOutSamplesThatTrainingNeverReaches) {
  const RegressionBatches batches({5, 4, 3, 3});
  HostBatch batch;
  batches.held_out(batches.held_out_count() - 1, batch);
  EXPECT_GE(batch.positions.front(), std::int64_t{1} << 62);
  EXPECT_EQ(batch.positions.size(), 4U);
}

TEST(RegressionBatches, RefuseExtentsOfZero) {
  EXPECT_THROW(RegressionBatches({0, 1, 1, 0}), BadInput);
  EXPECT_THROW(RegressionBatches({1, 0, 1, 0}), BadInput);
}

}  // namespace
}  // namespace zerolab
