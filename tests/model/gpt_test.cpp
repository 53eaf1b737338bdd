#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/model/model_bench.h"

namespace zerolab {
namespace {

using testing::Each;
using testing::HasSubstr;

ModelBench micro_bench(std::int64_t batch, std::int64_t time, bool guarded = false) {
  ModelBench bench(parse_model("gpt-micro"), batch, time, {}, guarded);
  bench.stage().load(RandomWeights(bench.layout(), 0.1F));
  return bench;
}

TEST(Gpt, StartsNearTheLossOfAUniformGuess) {
  const ModelSpec spec = parse_model("gpt-micro");
  ModelBench bench(spec, 4, 16);
  bench.stage().load(InitialWeights(bench.layout(), 7));
  EXPECT_NEAR(bench.evaluate(random_batch(spec, 4, 16, 0)), std::log(256.0), 0.05);
}

TEST(Gpt, LearnsABatchByHeart) {
  const ModelSpec spec = parse_model("gpt-micro");
  ModelBench bench(spec, 2, 16);
  bench.stage().load(InitialWeights(bench.layout(), 7));
  const HostBatch batch = random_batch(spec, 2, 16, 0);
  for (int step = 1; step <= 60; ++step) {
    bench.forward_backward(batch);
    bench.step(step, 1e-2F);
  }
  EXPECT_LT(bench.evaluate(batch), 0.5);
}

TEST(Gpt, GivesPositionsBeyondTheSequenceAGradientOfZero) {
  const std::int64_t time = 11, C = 32;
  ModelBench bench = micro_bench(3, time);
  bench.forward_backward(random_batch(parse_model("gpt-micro"), 3, time, 0));
  const std::vector<float> gradient = bench.gradient("wpe.weight");
  const auto end_of_used = gradient.begin() + time * C;
  EXPECT_THAT(std::vector<float>(end_of_used, gradient.end()), Each(0.0F));
  EXPECT_GT(std::abs(*(end_of_used - 1)), 0.0F);
}

TEST(Gpt, LeavesParametersWithoutGradientWhereTheyWereWithoutDecay) {
  const std::int64_t time = 11, C = 32;
  ModelBench bench = micro_bench(3, time);
  const std::vector<float> before = bench.parameter("wpe.weight");
  bench.forward_backward(random_batch(parse_model("gpt-micro"), 3, time, 0));
  bench.step(1, 1e-2F);
  const std::vector<float> after = bench.parameter("wpe.weight");
  EXPECT_TRUE(std::equal(before.begin() + time * C, before.end(), after.begin() + time * C));
  EXPECT_FALSE(std::equal(before.begin(), before.begin() + time * C, after.begin()));
}

TEST(Gpt, EvaluatesToTheLossThatTrainingReportsAndLeavesGradientsAlone) {
  ModelBench bench = micro_bench(2, 9);
  const HostBatch batch = random_batch(parse_model("gpt-micro"), 2, 9, 0);
  const double trained = bench.forward_backward(batch);
  const std::vector<float> gradient = bench.gradient("wte.weight");
  EXPECT_EQ(bench.evaluate(batch), trained);
  EXPECT_EQ(bench.gradient("wte.weight"), gradient);
}

TEST(Gpt, AddsTheGradientsOfMicroBatches) {
  ModelBench bench = micro_bench(2, 9);
  const HostBatch batch = random_batch(parse_model("gpt-micro"), 2, 9, 0);
  bench.forward_backward(batch);
  std::vector<float> once = bench.gradient("ln_f.weight");
  bench.forward_backward(batch, 1);
  const std::vector<float> twice = bench.gradient("ln_f.weight");
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_FLOAT_EQ(twice[i], 2 * once[i]);
}

TEST(Gpt, SeesNoLaterToken) {
  // One target counts at a time; the last input may matter to the last one only.
  const std::int64_t time = 8;
  ModelBench bench = micro_bench(1, time);
  const auto loss_with = [&](std::size_t counted, std::int32_t last_input) {
    HostBatch batch = random_batch(parse_model("gpt-micro"), 1, time, 0);
    std::vector<std::int32_t> targets(time, -1);
    targets[counted] = 65;
    std::memcpy(batch.targets.data(), targets.data(), batch.targets.size());
    std::memcpy(batch.inputs.data() + 4 * (time - 1), &last_input, 4);
    return bench.evaluate(batch);
  };
  EXPECT_EQ(loss_with(0, 10), loss_with(0, 200));
  EXPECT_EQ(loss_with(time - 2, 10), loss_with(time - 2, 200));
  EXPECT_NE(loss_with(time - 1, 10), loss_with(time - 1, 200));
}

TEST(Gpt, TouchesOnlyMemoryThatItsOperationsDeclare) {
  ModelBench guarded = micro_bench(2, 5, true);
  ModelBench plain = micro_bench(2, 5);
  const HostBatch batch = random_batch(parse_model("gpt-micro"), 2, 5, 0);
  const double loss = guarded.forward_backward(batch);
  EXPECT_GT(loss, 0.0);
  EXPECT_EQ(loss, plain.forward_backward(batch));
  EXPECT_EQ(guarded.gradient("wte.weight"), plain.gradient("wte.weight"));
}

TEST(Gpt, RefusesASequenceLongerThanItsMaximum) {
  try {
    ModelBench bench(parse_model("gpt-micro"), 1, 17);
    FAIL() << "a sequence of 17 was accepted";
  } catch (const BadInput& error) {
    EXPECT_THAT(error.what(), HasSubstr("sequences of 17 tokens do not fit the model"));
  }
}

TEST(Gpt, RefusesAnEmptyMicroBatch) {
  EXPECT_THROW(ModelBench(parse_model("gpt-micro"), 0, 4), BadInput);
}

}  // namespace
}  // namespace zerolab
