#include "experiments/bench/paced_run.h"

#include <gtest/gtest.h>

namespace zerolab {
namespace {

RunConfig micro(int ranks) {
  RunConfig config;
  config.model = "gpt-micro";
  config.micro_batch = 2;
  config.ranks = ranks;
  return config;
}

TEST(PacedRun, TrainsWheneverItIsTold) {
  PacedRun run(micro(3), "zero2");

  EXPECT_GT(run.train(2), 0);
  EXPECT_GT(run.train(1), 0);
  EXPECT_EQ(run.tokens_per_step(), 3 * 2 * 16);
}

TEST(PacedRun, TrainsBesideAnother) {
  PacedRun one(micro(1), "ddp"), other(micro(1), "zero3");

  one.begin(2);
  other.begin(2);

  EXPECT_GT(one.finish(), 0);
  EXPECT_GT(other.finish(), 0);
}

TEST(PacedRun, EndsWithoutHavingTrained) { PacedRun run(micro(2), "zero3"); }

TEST(PacedRun, FindsHowManyStepsFillASample) {
  PacedRun run(micro(1), "ddp");

  EXPECT_EQ(run.steps_in(0), 1);
  EXPECT_GT(run.steps_in(0.2), 1);
}

TEST(PacedRun, ThrowsWhatKeepsARankFromTraining) {
  RunConfig config = micro(2);
  config.optimizer.name = "no such optimizer";

  EXPECT_THROW(PacedRun(config, "ddp"), BadInput);
}

TEST(PaceGate, HandsOnTheFailureOfARankToTheMeasuringThread) {
  PaceGate gate(2);
  gate.arrive();
  gate.fail(std::make_exception_ptr(Failure("a rank failed")));

  EXPECT_THROW(gate.wait_for_ranks(), Failure);
  EXPECT_THROW(gate.wait_for_more(0), PaceGate::Stopped);
}

}  // namespace
}  // namespace zerolab
