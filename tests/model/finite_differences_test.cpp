// Gradients of the whole loss against central differences, element by element.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/model/model_bench.h"

namespace zerolab {
namespace {

/// The element with the largest gradient (where a factor or a sign shows best) and some others.
std::vector<std::int64_t> chosen_elements(const std::vector<float>& gradient, int tensor) {
  const auto by_size = [](float a, float b) { return std::abs(a) < std::abs(b); };
  std::vector<std::int64_t> chosen = {std::max_element(gradient.begin(), gradient.end(), by_size) -
                                      gradient.begin()};
  std::mt19937 random(static_cast<unsigned>(tensor));
  for (int i = 0; i < 2; ++i) {
    chosen.push_back(static_cast<std::int64_t>(random() % gradient.size()));
  }
  return chosen;
}

/// What a training step computes, dropout included, or an evaluation.
enum class LossOf { kTraining, kEvaluation };

/// Fourth-order central difference, so that a step large enough for fp32 is small enough for the
/// truncation error.
double central_difference(ModelBench& bench, const HostBatch& batch, LossOf loss, int tensor,
                          std::int64_t element, float value) {
  constexpr float kStep = 0.02F;
  const auto loss_at = [&](float offset) {
    bench.stage().set_parameter(tensor, element, value + offset);
    return loss == LossOf::kTraining ? bench.forward_backward(batch, 1) : bench.evaluate(batch);
  };
  const double near = loss_at(kStep) - loss_at(-kStep);
  const double far = loss_at(2 * kStep) - loss_at(-2 * kStep);
  bench.stage().set_parameter(tensor, element, value);
  return (8 * near - far) / (12.0 * kStep);
}

void expect_gradients_match(const ModelSpec& spec, std::int64_t batch_size, std::int64_t time,
                            const ModelOptions& options = {}) {
  ModelBench bench(spec, batch_size, time, {}, false, options);
  const LossOf loss = options == ModelOptions{} ? LossOf::kEvaluation : LossOf::kTraining;
  bench.stage().load(RandomWeights(bench.layout(), 0.2F));
  const HostBatch batch = random_batch(spec, batch_size, time, 0);
  ASSERT_GT(bench.forward_backward(batch), 0.0);

  const auto tensors = static_cast<int>(bench.layout().tensors().size());
  std::vector<std::vector<float>> gradients;  // before training's losses add to them
  for (int tensor = 0; tensor < tensors; ++tensor) {
    gradients.push_back(bench.stage().gradient(tensor));
  }
  for (int tensor = 0; tensor < tensors; ++tensor) {
    const std::vector<float>& gradient = gradients[static_cast<std::size_t>(tensor)];
    const std::vector<float> values = bench.stage().parameter(tensor);
    for (const std::int64_t element : chosen_elements(gradient, tensor)) {
      const auto i = static_cast<std::size_t>(element);
      const double expected = central_difference(bench, batch, loss, tensor, element, values[i]);
      const double allowed = 0.002 * std::abs(expected) + 1e-5;
      EXPECT_LE(std::abs(gradient[i] - expected), allowed)
          << bench.layout().tensor(tensor).name << "[" << element << "]: gradient " << gradient[i]
          << ", finite difference " << expected;
    }
  }
}

TEST(FiniteDifferences, AgreeWithEveryTensorOfGptWhereTheSequenceIsShorterThanTheMaximum) {
  expect_gradients_match(parse_model("gpt-micro"), 3, 11);
}

TEST(FiniteDifferences, AgreeWithEveryTensorOfGptWithDropoutAndCheckpoints) {
  expect_gradients_match(parse_model("gpt-micro"), 3, 7,
                         {.dropout = 0.2, .seed = 3, .checkpoint_every = 1});
}

TEST(FiniteDifferences, AgreeWithEveryTensorOfTiedMlp) {
  ModelSpec spec = parse_model("tied-mlp");
  spec.config = TiedMlpConfig{10};
  expect_gradients_match(spec, 5, 1);
}

}  // namespace
}  // namespace zerolab
