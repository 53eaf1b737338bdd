// With the tree order the bits do not follow the number of ranks; they never follow the threads.
#include "tests/stages/training_run.h"

namespace zerolab {
namespace {

RunConfig tree_config(int ranks, int accumulate) {
  RunConfig config = test_config(ranks, accumulate);
  config.reduction = Reduction::kTree;
  config.steps = 20;
  return config;
}

class WorldSizeInvariance : public testing::TestWithParam<std::string> {};

TEST_P(WorldSizeInvariance, eight_micro_batches_have_the_same_bits_on_1_2_4_and_8_ranks) {
  if (kSanitized) GTEST_SKIP() << "20 steps on 8 ranks are too long under a sanitizer";
  const StageResult one = train(GetParam(), tree_config(1, 8));
  for (const auto& [ranks, accumulate] : {std::pair{2, 4}, {4, 2}, {8, 1}}) {
    const StageResult other = train(GetParam(), tree_config(ranks, accumulate));
    SCOPED_TRACE(fmt::format("{} ranks with accumulation {}", ranks, accumulate));
    expect_equal_bits(one, other);
    expect_predicted_bytes(other, tree_config(ranks, accumulate));
  }
}

TEST_P(WorldSizeInvariance, twelve_micro_batches_fold_their_leftovers_alike) {
  if (kSanitized) GTEST_SKIP() << "20 steps are too long under a sanitizer";
  const StageResult one = train(GetParam(), tree_config(1, 12));
  expect_equal_bits(one, train(GetParam(), tree_config(2, 6)));
  expect_equal_bits(one, train(GetParam(), tree_config(4, 3)));
}

TEST_P(WorldSizeInvariance, the_ordered_sum_does_follow_the_number_of_ranks) {
  // Otherwise the tests above would prove nothing. (One rank adds 8 micro-batches in the order in
  // which 8 ranks do; two ranks add pairs first.)
  RunConfig one = test_config(1, 8);
  RunConfig two = test_config(2, 4);
  one.steps = two.steps = 1;
  const auto a = train(GetParam(), one).fingerprints().back().values;
  const auto b = train(GetParam(), two).fingerprints().back().values;
  EXPECT_NE(a, b);
}

TEST_P(WorldSizeInvariance, any_number_of_threads_gives_the_same_bits) {
  RunConfig config = test_config(2, 2);
  const StageResult one = train(GetParam(), config);
  for (const int threads : {2, 3}) {
    config.threads = threads;
    SCOPED_TRACE(fmt::format("{} threads", threads));
    expect_equal_bits(one, train(GetParam(), config));
  }
}

INSTANTIATE_TEST_SUITE_P(Stages, WorldSizeInvariance,
                         testing::Values("ddp", "zero1", "zero2", "zero3"));

}  // namespace
}  // namespace zerolab
