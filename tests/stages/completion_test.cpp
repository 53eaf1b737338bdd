// In which order units and buckets are handed on while backward works through the flat space.
#include "stages/parallel/completion.h"

#include <gtest/gtest.h>

#include "tests/stages/small_layout.h"

namespace zerolab {
namespace {

using Units = std::vector<UnitId>;
using Pieces = std::vector<int>;

Use completing(UnitId unit) {
  return {.unit = unit, .phase = Phase::kBackward, .completes_gradient = true};
}

class CompletionTest : public testing::Test {
 protected:
  const ParameterLayout layout_ = test::small_layout();
  // Units [0, 64), [64, 128), [128, 224); buckets [0, 96), [96, 192), [192, 288).
  const Partition partition_ = Partition::by_bucket(layout_, 3, 96);
  Completion completion_{partition_};
  const std::vector<Use> all_ = {completing(0), completing(1), completing(2)};
};

TEST_F(CompletionTest, HandsOnEachUnitAsItCompletesInFlatOrder) {
  completion_.begin(all_);

  EXPECT_EQ(completion_.units_in_turn(0), (Units{0}));
  EXPECT_EQ(completion_.units_in_turn(1), (Units{1}));
  EXPECT_EQ(completion_.units_in_turn(2), (Units{2}));
}

TEST_F(CompletionTest, LetsAUnitThatCompletesEarlyWaitForItsTurn) {
  completion_.begin(all_);

  EXPECT_EQ(completion_.units_in_turn(2), (Units{}));
  EXPECT_EQ(completion_.units_in_turn(1), (Units{}));
  EXPECT_EQ(completion_.units_in_turn(0), (Units{0, 1, 2}));
}

TEST_F(CompletionTest, CountsAUnitThatNeverCompletesAsCompleteFromTheStart) {
  completion_.begin(std::vector<Use>{completing(0), completing(2)});

  EXPECT_EQ(completion_.units_in_turn(0), (Units{0, 1}));
  EXPECT_EQ(completion_.units_in_turn(2), (Units{2}));
}

TEST_F(CompletionTest, HandsOnAbsentUnitsAtTheEndsWithTheirNeighbours) {
  completion_.begin(std::vector<Use>{completing(1)});

  EXPECT_EQ(completion_.units_in_turn(1), (Units{0, 1, 2}));
}

TEST_F(CompletionTest, LaunchesABucketWhenTheCompletedPrefixPassesItsEnd) {
  completion_.begin(all_);

  EXPECT_EQ(completion_.pieces_in_turn(0), (Pieces{}));   // complete: [0, 64)
  EXPECT_EQ(completion_.pieces_in_turn(1), (Pieces{0}));  // [0, 128)
  EXPECT_EQ(completion_.pieces_in_turn(2), (Pieces{1, 2}));
}

TEST_F(CompletionTest, LaunchesABucketThatEndsExactlyWhereAUnitEnds) {
  const Partition partition = Partition::by_bucket(layout_, 2, 64);
  Completion completion(partition);
  completion.begin(all_);

  EXPECT_EQ(completion.pieces_in_turn(0), (Pieces{0}));
  EXPECT_EQ(completion.pieces_in_turn(1), (Pieces{1}));
  EXPECT_EQ(completion.pieces_in_turn(2), (Pieces{2, 3}));
}

TEST_F(CompletionTest, LaunchesEveryBucketOnceWhenUnitsCompleteEarly) {
  completion_.begin(all_);

  EXPECT_EQ(completion_.pieces_in_turn(2), (Pieces{}));
  EXPECT_EQ(completion_.pieces_in_turn(0), (Pieces{}));
  EXPECT_EQ(completion_.pieces_in_turn(1), (Pieces{0, 1, 2}));
}

TEST_F(CompletionTest, FlushesThePaddingBehindTheLastUnitWhenThatUnitIsAbsent) {
  completion_.begin(std::vector<Use>{completing(0), completing(1)});

  EXPECT_EQ(completion_.pieces_in_turn(0), (Pieces{}));
  EXPECT_EQ(completion_.pieces_in_turn(1), (Pieces{0, 1, 2}));
}

TEST_F(CompletionTest, IgnoresUsesThatDoNotComplete) {
  std::vector<Use> uses = {{.unit = 2, .phase = Phase::kForward},
                           {.unit = 2, .phase = Phase::kBackward}};
  uses.insert(uses.end(), all_.begin(), all_.end());
  completion_.begin(uses);

  EXPECT_EQ(completion_.units_in_turn(0), (Units{0}));
  EXPECT_EQ(completion_.units_in_turn(1), (Units{1}));
  EXPECT_EQ(completion_.units_in_turn(2), (Units{2}));
}

TEST_F(CompletionTest, StartsAfreshWithEveryMicroBatch) {
  completion_.begin(all_);
  completion_.pieces_in_turn(0);
  completion_.pieces_in_turn(2);
  completion_.begin(all_);

  EXPECT_EQ(completion_.pieces_in_turn(0), (Pieces{}));
  EXPECT_EQ(completion_.pieces_in_turn(1), (Pieces{0}));
  EXPECT_EQ(completion_.pieces_in_turn(2), (Pieces{1, 2}));
}

}  // namespace
}  // namespace zerolab
