// A step whose gradients overflow is skipped: by all ranks, and without a trace.
#include <cmath>

#include "tests/stages/training_run.h"

namespace zerolab {
namespace {

TEST(Overflow, is_skipped_by_all_ranks_and_halves_the_scale) {
  RunConfig config = test_config(3, 1);
  config.precision = "fp16";
  config.loss_scale.initial_power = 24;  // beyond fp16's 65504 for any gradient above 0.004
  config.loss_scale.hysteresis = 1;
  config.steps = 12;
  const StageResult ddp = train("ddp", config);

  ASSERT_TRUE(ddp.steps().front().skipped);
  double scale = std::ldexp(1.0, 24);
  std::size_t skipped = 0;
  for (const StepRecord& step : ddp.steps()) {
    EXPECT_EQ(step.loss_scale, scale) << step.step;
    if (!step.skipped) continue;
    scale /= 2;
    ++skipped;
  }
  EXPECT_LT(skipped, ddp.steps().size()) << "the scale must come down to where training goes on";
  for (const char* stage : {"zero1", "zero2", "zero3"})
    expect_equal_bits(ddp, train(stage, config));
}

class SkippedStep : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(SkippedStep, changes_neither_parameters_nor_states) {
  if (kSanitized) GTEST_SKIP() << "the overflow above is enough under a sanitizer";
  const auto& [stage, optimizer] = GetParam();
  RunConfig config = test_config(2, 2);
  config.precision = "fp16";
  config.optimizer.name = optimizer;
  config.learning_rate = 0.01;
  config.loss_scale.initial_power = 16;
  config.loss_scale.window =
      1;  // doubles after every good step, so that it overflows again and again
  config.loss_scale.hysteresis = 1;
  config.steps = 16;
  config.guarded = false;

  const StageResult result = train(stage, config);

  int skipped = 0, trained = 0;
  const auto prints = result.fingerprints();  // of the start, then of every step
  for (std::size_t s = 0; s < result.steps().size(); ++s) {
    const bool parameters = prints[s].values[1] == prints[s + 1].values[1];
    const bool states = prints[s].values[2] == prints[s + 1].values[2];
    if (!result.steps()[s].skipped) {
      EXPECT_FALSE(parameters || states) << "step " << s + 1 << " trained nothing";
      ++trained;
    } else if (trained > 0) {  // before, states are zeros that could only stay zeros
      EXPECT_TRUE(parameters) << "step " << s + 1;
      EXPECT_TRUE(states) << "step " << s + 1;
      ++skipped;
    }
  }
  EXPECT_GT(trained, 2);
  EXPECT_GT(skipped, 2);
}
INSTANTIATE_TEST_SUITE_P(StagesAndOptimizers, SkippedStep,
                         testing::Combine(testing::ValuesIn(stage_names()),
                                          testing::ValuesIn(optimizer_names())),
                         [](const auto& row) {
                           return fmt::format("{}_{}", std::get<0>(row.param),
                                              std::get<1>(row.param));
                         });

}  // namespace
}  // namespace zerolab
