#include "stages/train/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace zerolab {
namespace {

void expect_rates(const Schedule& schedule, const std::vector<double>& rates) {
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const auto step = static_cast<std::int64_t>(i + 1);
    EXPECT_DOUBLE_EQ(schedule.learning_rate(step), rates[i]) << "step " << step;
  }
}

TEST(Schedule, warms_up_linearly_and_reaches_the_peak_at_the_last_warm_up_step) {
  const Schedule schedule{.peak = 0.8, .warmup_steps = 4, .total_steps = 100};
  EXPECT_DOUBLE_EQ(schedule.learning_rate(1), 0.2);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(3), 0.6);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(4), 0.8);
}

TEST(Schedule, warms_up_from_a_rate_of_its_own) {
  expect_rates({.peak = 0.9, .warmup_steps = 4, .total_steps = 4, .warmup_from = 0.1},
               {0.3, 0.5, 0.7, 0.9, 0.9});
}

TEST(Schedule, warms_up_logarithmically_with_the_peak_at_the_last_warm_up_step) {
  // ln 2 : ln 4 : ln 8 = 1 : 2 : 3
  const Schedule schedule{
      .peak = 0.6, .warmup_steps = 7, .total_steps = 7, .warmup_shape = WarmupShape::kLog};
  EXPECT_DOUBLE_EQ(schedule.learning_rate(1), 0.2);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(3), 0.4);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(7), 0.6);
}

TEST(Schedule, falls_along_half_a_cosine_to_the_final_fraction) {
  const Schedule schedule{
      .peak = 1.0, .warmup_steps = 10, .total_steps = 110, .final_fraction = 0.1};
  EXPECT_DOUBLE_EQ(schedule.learning_rate(60), 0.55);  // half way: the mean of 1 and 0.1
  EXPECT_DOUBLE_EQ(schedule.learning_rate(110), 0.1);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(500), 0.1);
}

TEST(Schedule, falls_linearly_to_the_final_fraction_and_stays_there) {
  expect_rates({.peak = 1.0,
                .warmup_steps = 1,
                .total_steps = 5,
                .final_fraction = 0.2,
                .decay = Decay::kLinear},
               {1.0, 0.8, 0.6, 0.4, 0.2, 0.2});
}

TEST(Schedule, is_constant_after_warm_up_when_asked_to_be_or_without_a_last_step) {
  const Schedule constant{
      .peak = 0.3, .warmup_steps = 2, .total_steps = 10, .decay = Decay::kConstant};
  for (const Schedule& schedule : {constant, Schedule{.peak = 0.3, .warmup_steps = 2}}) {
    EXPECT_DOUBLE_EQ(schedule.learning_rate(1), 0.15);
    EXPECT_DOUBLE_EQ(schedule.learning_rate(2), 0.3);
    EXPECT_DOUBLE_EQ(schedule.learning_rate(1000), 0.3);
  }
}

TEST(Schedule, starts_at_the_peak_without_warm_up) {
  const Schedule schedule{.peak = 0.3, .warmup_steps = 0, .total_steps = 0};
  EXPECT_DOUBLE_EQ(schedule.learning_rate(1), 0.3);
}

// The run that everybody makes must not lose a bit, so its rates are compared exactly with the
// expressions that it had from the start.
TEST(Schedule, has_the_bits_of_its_defining_expressions_by_default) {
  const double peak = 1e-3;
  const Schedule schedule{.peak = peak, .warmup_steps = 10, .total_steps = 60};
  for (int step = 1; step < 10; ++step) EXPECT_EQ(schedule.learning_rate(step), peak * step / 10.0);
  for (int step = 10; step <= 60; ++step) {
    const double cosine = 0.5 * (1.0 + std::cos(std::acos(-1.0) * ((step - 10) / 50.0)));
    EXPECT_EQ(schedule.learning_rate(step), peak * (0.1 + (1.0 - 0.1) * cosine)) << step;
  }
}

// DeepSpeed creates the scheduler at iteration -1 and moves it on after each optimizer step, so
// that steps 1, 2, 3 … have the rates of iterations -1, 0, 1 …
TEST(DeepSpeedSchedule, warmup_lr_rises_logarithmically_from_its_minimum) {
  const double ln4 = std::log(4.0);
  expect_rates(
      {.peak = 0.5,
       .warmup_steps = 4,
       .decay = Decay::kConstant,
       .warmup_shape = WarmupShape::kLog,
       .warmup_from = 0.1,
       .count = StepCount::kDeepSpeed},
      {0.1, 0.1, 0.1 + 0.4 * std::log(2.0) / ln4, 0.1 + 0.4 * std::log(3.0) / ln4, 0.5, 0.5, 0.5});
}

TEST(DeepSpeedSchedule, warmup_lr_rises_linearly_when_told_so) {
  expect_rates(
      {.peak = 0.4, .warmup_steps = 4, .decay = Decay::kConstant, .count = StepCount::kDeepSpeed},
      {0, 0, 0.1, 0.2, 0.3, 0.4, 0.4});
}

TEST(DeepSpeedSchedule, warms_up_over_two_steps_at_least) {
  expect_rates(
      {.peak = 0.4, .warmup_steps = 1, .decay = Decay::kConstant, .count = StepCount::kDeepSpeed},
      {0, 0, 0.2, 0.4});
}

TEST(DeepSpeedSchedule, warmup_decay_lr_falls_linearly_to_where_warm_up_began) {
  // Iterations 2, 3, 4, 5, 6 of 6: (6 - i) / (6 - 2) = 1, 3/4, 1/2, 1/4, 0.
  expect_rates({.peak = 0.5,
                .warmup_steps = 2,
                .total_steps = 6,
                .final_fraction = 0.1 / 0.5,
                .decay = Decay::kLinear,
                .warmup_from = 0.1,
                .count = StepCount::kDeepSpeed},
               {0.1, 0.1, 0.3, 0.5, 0.4, 0.3, 0.2, 0.1, 0.1});
}

TEST(DeepSpeedSchedule, warmup_cosine_lr_starts_at_zero_and_ends_at_its_minimum) {
  // Progress (i - 2 + 1) / (6 - 2) = 1/4, 1/2, 3/4, 1 at iterations 2, 3, 4, 5, then 1.
  const double eighth = 0.5 * (1 + std::sqrt(0.5));
  expect_rates({.peak = 1,
                .warmup_steps = 2,
                .total_steps = 6,
                .final_fraction = 0.1,
                .warmup_from = 0.2,
                .count = StepCount::kDeepSpeed},
               {0, 0.2, 0.6, 0.1 + 0.9 * eighth, 0.55, 0.1 + 0.9 * (1 - eighth), 0.1, 0.1});
}

}  // namespace
}  // namespace zerolab
