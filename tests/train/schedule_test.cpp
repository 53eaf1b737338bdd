#include "stages/train/schedule.h"

#include <gtest/gtest.h>

namespace zerolab {
namespace {

TEST(Schedule, warms_up_linearly_and_reaches_the_peak_at_the_last_warm_up_step) {
  const Schedule schedule{.peak = 0.8, .warmup_steps = 4, .total_steps = 100};
  EXPECT_DOUBLE_EQ(schedule.learning_rate(1), 0.2);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(3), 0.6);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(4), 0.8);
}

TEST(Schedule, falls_along_half_a_cosine_to_the_final_fraction) {
  const Schedule schedule{
      .peak = 1.0, .warmup_steps = 10, .total_steps = 110, .final_fraction = 0.1};
  EXPECT_DOUBLE_EQ(schedule.learning_rate(60), 0.55);  // half way: the mean of 1 and 0.1
  EXPECT_DOUBLE_EQ(schedule.learning_rate(110), 0.1);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(500), 0.1);
}

TEST(Schedule, is_constant_after_warm_up_without_a_last_step) {
  const Schedule schedule{.peak = 0.3, .warmup_steps = 2, .total_steps = 0};
  EXPECT_DOUBLE_EQ(schedule.learning_rate(1), 0.15);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(2), 0.3);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(1000), 0.3);
}

TEST(Schedule, starts_at_the_peak_without_warm_up) {
  const Schedule schedule{.peak = 0.3, .warmup_steps = 0, .total_steps = 0};
  EXPECT_DOUBLE_EQ(schedule.learning_rate(1), 0.3);
}

}  // namespace
}  // namespace zerolab
