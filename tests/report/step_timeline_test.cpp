#include "experiments/report/step_timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/report/walkthrough.h"
#include "tests/report/example_comparison.h"

namespace zerolab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kUnitGradients = static_cast<std::size_t>(Category::kUnitGradients);

std::vector<std::string> names(const StepTimeline& timeline) {
  std::vector<std::string> all;
  for (const TimelineColumn& column : timeline.columns) {
    all.push_back(column.unit.empty() ? column.phase : column.phase + " " + column.unit);
  }
  return all;
}

/// A rank that turns to `moments` and sends one collective in each of `phases`.
RankResult rank_with(const std::vector<std::string>& moments,
                     const std::vector<std::string>& phases) {
  RankResult rank;
  for (const std::string& moment : moments) rank.moments.push_back({moment, 0});
  for (const std::string& phase : phases) {
    CollectiveRecord record;
    record.phase = phase;
    rank.records.push_back(record);
  }
  return rank;
}

TEST(StepTimeline, HasAColumnPerVisitAlsoWhereNothingHappens) {
  const Comparison comparison = example_comparison();
  const StepTimeline timeline = step_timeline(comparison.stages[0].result.ranks[1]);
  EXPECT_THAT(names(timeline),
              ElementsAre("begin", "forward embedding", "forward h.0", "forward ln_f",
                          "forward embedding", "backward embedding", "backward ln_f",
                          "backward h.0", "backward embedding", "optimizer"));
  EXPECT_EQ(timeline.rank, 1);
  EXPECT_EQ(timeline.micro_batches, 1);
}

TEST(StepTimeline, FollowsWhatComesAndGoes) {
  const Comparison comparison = example_comparison();
  const StepTimeline timeline = step_timeline(comparison.stages[2].result.ranks[0]);
  ASSERT_EQ(timeline.blocks.size(), 5U);  // four gathers and a gradient
  EXPECT_EQ(timeline.blocks[1].name, "parameters of h.0");
  EXPECT_EQ(timeline.blocks[1].first, 2);
  EXPECT_EQ(timeline.blocks[1].last, 2);
  EXPECT_EQ(timeline.peak[kUnitGradients], 6000);
  EXPECT_EQ(timeline.held_at_begin[kUnitGradients], 0);
  EXPECT_EQ(timeline.held.back()[0], 4000);
}

TEST(StepTimeline, ABlockMaySpanVisits) {
  RankResult rank = rank_with({"step 1", "step 1 forward a", "step 1 forward b"}, {});
  rank.held_before[kUnitGradients] = 8;
  rank.memory_events = {{0, "new", Category::kUnitGradients, 4, 12, "step 1 forward a"},
                        {0, "old", Category::kUnitGradients, -8, 4, "step 1 forward a"},
                        {0, "new", Category::kUnitGradients, -4, 0, "step 1 forward b"}};
  rank.moments[2].first_event = 2;

  const StepTimeline timeline = step_timeline(rank);

  ASSERT_EQ(timeline.blocks.size(), 2U);
  EXPECT_EQ(timeline.blocks[0].name, "old");
  EXPECT_EQ(timeline.blocks[0].first, 0);
  EXPECT_EQ(timeline.blocks[0].last, 1);
  EXPECT_EQ(timeline.blocks[1].name, "new");
  EXPECT_EQ(timeline.blocks[1].first, 1);
  EXPECT_EQ(timeline.blocks[1].last, 2);
  EXPECT_EQ(timeline.held_at_begin[kUnitGradients], 8);
  EXPECT_EQ(timeline.peak[kUnitGradients], 12);
  EXPECT_EQ(timeline.peak_bytes, 12);
}

TEST(StepTimeline, WhatChecksHoldIsLeftOut) {
  RankResult rank = rank_with({"step 1", "step 1 forward a"}, {});
  rank.memory_events = {{0, "copy", Category::kChecks, 4, 4, "step 1 forward a"}};
  rank.moments[1].first_event = 0;
  const StepTimeline timeline = step_timeline(rank);
  EXPECT_TRUE(timeline.blocks.empty());
  EXPECT_EQ(timeline.peak[static_cast<std::size_t>(Category::kChecks)], 0);
}

TEST(StepTimeline, ACollectiveStandsWhereItWasLaunched) {
  const Comparison comparison = example_comparison();
  const StepTimeline timeline = step_timeline(comparison.stages[1].result.ranks[0]);
  ASSERT_EQ(timeline.moves.size(), 3U);
  EXPECT_EQ(timeline.moves[0].column, 8);  // the embedding's second backward visit
  EXPECT_EQ(timeline.moves[1].record->what, "losses");
  EXPECT_EQ(timeline.moves[2].column, 9);
  EXPECT_EQ(sent(*timeline.moves[0].record), 8000);
}

TEST(StepTimeline, OfSeveralMicroBatchesTheLastIsShown) {
  const RankResult rank = rank_with(
      {"step 1", "step 1 micro-batch 0", "step 1 micro-batch 0 forward a",
       "step 1 micro-batch 0 backward a", "step 1 micro-batch 1", "step 1 micro-batch 1 forward a",
       "step 1 micro-batch 1 backward a", "step 1 optimizer"},
      {"step 1 micro-batch 0 backward a", "step 1 micro-batch 1 backward a", "step 1 optimizer"});
  const StepTimeline timeline = step_timeline(rank);
  EXPECT_EQ(timeline.micro_batches, 2);
  EXPECT_THAT(names(timeline), ElementsAre("begin", "forward a", "backward a", "optimizer"));
  ASSERT_EQ(timeline.moves.size(), 3U);
  EXPECT_EQ(timeline.moves[0].column, 0);
  EXPECT_EQ(timeline.moves[1].column, 2);
  EXPECT_EQ(timeline.moves[2].column, 3);
}

TEST(StepTimeline, AReductionOfATiedTensorStandsAtItsLastVisit) {
  const RankResult rank =
      rank_with({"step 1", "step 1 forward tied", "step 1 backward tied", "step 1 backward h.0",
                 "step 1 backward tied", "step 1 optimizer"},
                {"step 1 backward h.0", "step 1 backward tied"});
  const StepTimeline timeline = step_timeline(rank);
  ASSERT_EQ(timeline.moves.size(), 2U);
  EXPECT_EQ(timeline.moves[0].column, 3);
  EXPECT_EQ(timeline.moves[1].column, 4);
}

TEST(StepTimeline, TheEvaluationAfterTheStepIsLeftOut) {
  const RankResult rank =
      rank_with({"step 1", "step 1 forward a", "step 1 optimizer", "evaluation after step 1"}, {});
  EXPECT_EQ(step_timeline(rank).columns.size(), 3U);
}

TEST(StepTimeline, OfARankWithoutAStepIsEmpty) {
  EXPECT_TRUE(step_timeline(RankResult{}).columns.empty());
}

TEST(Walkthrough, TellsWhatIsHeldAndWhatMoves) {
  const std::string text = walkthrough(example_comparison().stages[2].result);
  EXPECT_THAT(text, HasSubstr("zero3, step 3, ranks 0 and 1 of 3"));
  EXPECT_THAT(text, HasSubstr("before, either rank"));
  EXPECT_THAT(text, HasSubstr(" 4.00 kB  parameters"));
  EXPECT_THAT(text, HasSubstr("+  4.00 kB  gathered parameters: parameters of h.0"));
  EXPECT_THAT(text, HasSubstr("> all-gather parameters h.0: 1.00 kB to and from each of 2 ranks"));
  EXPECT_THAT(text, HasSubstr("8.00 kB  sent by 1 call of reduce scatter (training)"));
}

TEST(Walkthrough, TellsRanksApartThatDoNotDoTheSame) {
  StageResult result = example_comparison().stages[0].result;
  result.ranks[1].held_before[0] += 1000;
  const std::string text = walkthrough(result);
  EXPECT_THAT(text, HasSubstr("before, rank 0"));
  EXPECT_THAT(text, HasSubstr("13.0 kB  parameters"));
}

TEST(Walkthrough, OfOneRankSendsNothing) {
  const std::string text = walkthrough(example_comparison(1).stages[0].result);
  EXPECT_THAT(text, HasSubstr("rank 0 of 1"));
  EXPECT_THAT(text, HasSubstr("bucket 0: nothing"));
}

TEST(Walkthrough, StaysWithinAHundredColumns) {
  const std::string text = walkthrough(example_comparison(64).stages[2].result);
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    EXPECT_LE(end - begin, 100U) << text.substr(begin, end - begin);
    begin = end + 1;
  }
}

}  // namespace
}  // namespace zerolab
