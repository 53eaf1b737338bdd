// The dynamic loss scale, by the rule of DeepSpeed's DynamicLossScaler.
#include "stages/optim/loss_scaler.h"

#include <gtest/gtest.h>

#include "stages/core/error.h"

namespace zerolab {
namespace {

LossScaleSettings dynamic(int power, std::int64_t window, int hysteresis) {
  LossScaleSettings settings;
  settings.initial_power = power;
  settings.window = window;
  settings.hysteresis = hysteresis;
  return settings;
}

TEST(LossScaler, IsOneWithoutSettings) {
  LossScaler scaler;
  scaler.update(true);
  EXPECT_EQ(scaler.scale(), 1);
}

TEST(LossScaler, KeepsAFixedScaleWhateverHappens) {
  LossScaleSettings settings;
  settings.fixed = 8;
  LossScaler scaler(settings);
  scaler.update(true);
  scaler.update(false);
  EXPECT_EQ(scaler.scale(), 8);
}

TEST(LossScaler, StartsAtDeepSpeedsDefault) { EXPECT_EQ(LossScaler(LossScaleSettings{}).scale(), 65536); }

TEST(LossScaler, ForgivesOneOverflowLessThanTheHysteresisAndThenHalvesEachTime) {
  LossScaler scaler(dynamic(4, 1000, 3));
  for (const double expected : {16.0, 16.0, 8.0, 4.0}) {
    scaler.update(true);
    EXPECT_EQ(scaler.scale(), expected);
  }
}

// The overflow at iteration 1 is the last; iteration 1 + w + 1 is the first at which w good steps
// lie between them.
TEST(LossScaler, DoublesAfterAWindowOfGoodStepsAndForgivesAgain) {
  LossScaler scaler(dynamic(4, 3, 2));
  scaler.update(true);  // forgiven
  scaler.update(true);  // 8
  for (int good = 0; good < 3; ++good) {
    scaler.update(false);
    EXPECT_EQ(scaler.scale(), 8) << good;
  }
  scaler.update(false);
  EXPECT_EQ(scaler.scale(), 16);
  scaler.update(true);  // forgiven again
  EXPECT_EQ(scaler.scale(), 16);
}

TEST(LossScaler, WithConsecutiveHysteresisEveryGoodStepForgives) {
  LossScaleSettings settings = dynamic(4, 1000, 2);
  settings.consecutive_hysteresis = true;
  LossScaler scaler(settings);
  for (int round = 0; round < 3; ++round) {
    scaler.update(true);
    scaler.update(false);
  }
  EXPECT_EQ(scaler.scale(), 16);
}

TEST(LossScaler, EndsTheRunWhereTheSmallestScaleOverflows) {
  LossScaler scaler(dynamic(1, 1000, 1));
  scaler.update(true);
  EXPECT_EQ(scaler.scale(), 1);
  EXPECT_THROW(scaler.update(true), Failure);
}

}  // namespace
}  // namespace zerolab
