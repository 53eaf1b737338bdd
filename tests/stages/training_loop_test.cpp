// What the loop reports: losses in global order, positions, held-out means.
#include <set>

#include "tests/stages/training_run.h"

namespace zerolab {
namespace {

TEST(TrainingLoop, the_loss_is_the_mean_over_the_same_sequences_for_any_number_of_ranks) {
  // Step 1 trains nothing yet, so the loss depends on the initial weights and the batch alone.
  RunConfig one = test_config(1, 6);
  RunConfig three = test_config(3, 2);
  one.steps = three.steps = 1;
  EXPECT_EQ(train("ddp", one).steps()[0].loss, train("zero3", three).steps()[0].loss);
}

TEST(TrainingLoop, the_first_loss_of_a_byte_model_is_near_that_of_guessing) {
  RunConfig config = test_config(2, 1);
  config.steps = 1;
  EXPECT_NEAR(train("zero2", config).steps()[0].loss, std::log(256.0), 0.1);
}

TEST(TrainingLoop, ranks_read_disjoint_sequences_and_together_the_batch_of_one_rank) {
  RunConfig one = test_config(1, 6);
  RunConfig three = test_config(3, 2);
  const StageResult alone = train("ddp", one);
  const StageResult together = train("ddp", three);
  for (std::size_t s = 0; s < alone.steps().size(); ++s) {
    const auto& of_one = alone.steps()[s].positions;
    std::set<std::int64_t> expected(of_one.begin(), of_one.end());
    std::set<std::int64_t> read;
    std::size_t count = 0;
    for (const RankResult& rank : together.ranks) {
      read.insert(rank.steps[s].positions.begin(), rank.steps[s].positions.end());
      count += rank.steps[s].positions.size();
    }
    EXPECT_EQ(read, expected);
    EXPECT_EQ(read.size(), count) << "a sequence was read twice in step " << s + 1;
  }
}

TEST(TrainingLoop, the_held_out_loss_does_not_depend_on_how_many_ranks_share_it) {
  // 3 held-out micro-batches: one rank runs all, two ranks run 2 and drop one.
  RunConfig one = test_config(1, 2);
  RunConfig two = test_config(2, 1);
  one.reduction = two.reduction = Reduction::kTree;
  const auto a = train("zero1", one).steps();
  const auto b = train("zero3", two).steps();
  ASSERT_TRUE(a[1].held_out_loss.has_value());
  EXPECT_EQ(a[1].held_out_loss, b[1].held_out_loss);
  EXPECT_FALSE(a[0].held_out_loss.has_value());
}

TEST(TrainingLoop, training_lowers_the_loss) {
  RunConfig config = test_config(2, 1);
  config.steps = 60;
  config.learning_rate = 3e-3;
  config.guarded = false;
  const StageResult result = train("zero2", config);
  EXPECT_LT(result.steps().back().loss, 0.7 * result.steps().front().loss);
}

}  // namespace
}  // namespace zerolab
