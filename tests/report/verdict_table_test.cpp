#include "experiments/report/verdict_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <sstream>

#include "experiments/report/verdict_text.h"
#include "tests/report/example_comparison.h"

namespace zerolab {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(VerdictTable, HasALinePerStageUnderItsHeader) {
  const std::vector<std::string> lines = lines_of(verdict_table(example_comparison()));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(lines[0], HasSubstr("held, kB"));
  EXPECT_THAT(lines[1], ::testing::StartsWith("ddp "));
  EXPECT_THAT(lines[1], HasSubstr("reference"));
  EXPECT_THAT(lines[3], ::testing::StartsWith("zero3 "));
  EXPECT_THAT(lines[3], HasSubstr("2.1817"));  // the last loss, 5.545…/3 + 1/3
}

TEST(VerdictTable, FitsInAHundredColumnsWhateverTheNumbers) {
  Comparison comparison = diverged_example();
  comparison.stages[1].result.name = "zero1.local";
  comparison.stages[1].verdict = Verdict::kWithinNoise;
  for (StageComparison& stage : comparison.stages) {
    for (std::size_t r = 0; r < stage.result.ranks.size(); ++r) {
      RankResult& rank = stage.result.ranks[r];
      rank.peak_bytes *= 123456;
      stage.predicted[r].peak_bytes = rank.peak_bytes + 1;
      for (Volume& volume : rank.training_volume[0]) volume.sent_intra *= 123456;
      for (StepRecord& step : rank.steps) {
        step.loss = std::nan("");
        step.grad_norm = 1e30F;
        step.tokens = 1 << 20;
      }
    }
  }
  for (const std::string& line : lines_of(verdict_table(comparison))) {
    EXPECT_LE(line.size(), 100U) << line;
  }
}

TEST(VerdictTable, TellsBytesThatAreOffByOneAlthoughTheDigitsShownAreEqual) {
  Comparison comparison = example_comparison();
  comparison.stages[1].predicted[0].peak_bytes += 1;
  const std::vector<std::string> lines = lines_of(verdict_table(comparison));
  EXPECT_THAT(lines[2], HasSubstr(" != "));
  EXPECT_THAT(lines[3], Not(HasSubstr(" != ")));
}

TEST(VerdictTable, CountsTheChecksThatPassed) {
  const std::vector<std::string> lines = lines_of(verdict_table(diverged_example()));
  EXPECT_THAT(lines[1], HasSubstr("6/6"));  // nothing to compare the reference with
  EXPECT_THAT(lines[3], HasSubstr("5/7"));  // INV and REF
}

TEST(VerdictTable, CountsNoCheckOfARunThatBrokeOffAsPassed) {
  Comparison comparison = diverged_example();
  for (RankResult& rank : comparison.stages[2].result.ranks) rank.steps.clear();
  comparison.stages[2].first_divergence.reset();
  EXPECT_THAT(lines_of(verdict_table(comparison))[3], HasSubstr("0/1"));  // INV
}

TEST(VerdictTable, IsPlainUnlessColourIsAskedFor) {
  EXPECT_THAT(verdict_table(diverged_example()), Not(HasSubstr("\033")));
  EXPECT_THAT(verdict_table(diverged_example(), true), HasSubstr("\033[31mdiverged"));
  EXPECT_THAT(verdict_sentences(diverged_example()), Not(HasSubstr("\033")));
}

TEST(VerdictSentences, SayThatTheStagesAreEqual) {
  const std::string text = verdict_sentences(example_comparison());
  EXPECT_EQ(text,
            "Equal: zero1 and zero3 trained the same model as ddp, to the last bit (gpt-tiny, 3 "
            "ranks, 3 steps).\n");
}

TEST(VerdictSentences, ClaimNoMoreThanWasComparedWithoutFingerprints) {
  Comparison comparison = example_comparison();
  std::erase(comparison.config.checks, "REF");
  EXPECT_THAT(headline(comparison),
              HasSubstr("zero1 and zero3 had the losses and norms of ddp, to the last bit; without "
                        "REF no gradient or parameter was compared"));
}

TEST(VerdictSentences, NameTheReferenceOfEachStage) {
  Comparison comparison = example_comparison();
  comparison.stages.push_back(comparison.stages[1]);
  comparison.stages.back().result.name = "zero1.local";
  comparison.stages.back().compared_with = "ddp.local";
  EXPECT_THAT(headline(comparison),
              HasSubstr("zero1 and zero3 trained the same model as ddp, and zero1.local as "
                        "ddp.local, to the last bit"));
}

TEST(VerdictSentences, TellStagesApartThatAreEqualAndThatAreNot) {
  Comparison comparison = example_comparison();
  comparison.verdict = comparison.stages[2].verdict = Verdict::kWithinNoise;
  EXPECT_THAT(
      headline(comparison),
      ::testing::StartsWith("Within noise: zero1 trained the same model as ddp, to the last "
                            "bit; zero3 stayed within"));
}

TEST(VerdictSentences, NameTheFirstDivergenceWithItsEvidence) {
  const std::string text = verdict_sentences(diverged_example());
  EXPECT_THAT(text, ::testing::StartsWith("Diverged: zero3 did not train the same model as ddp"));
  EXPECT_THAT(text, HasSubstr("at step 2 in the gradients of h.0.mlp.c_fc.weight"));
  EXPECT_THAT(text, HasSubstr("element 4,096, owned by rank 1, is 1 where ddp has 0.25"));
  EXPECT_THAT(text, HasSubstr("16,777,216 ULP"));
}

TEST(VerdictSentences, TellEachFindingOnceWithHowManyAreLikeIt) {
  const std::string text = verdict_sentences(diverged_example());
  EXPECT_THAT(text, HasSubstr("zero3: INV, step 2, gradients of h.0.mlp.c_fc.weight, rank 0"));
  EXPECT_THAT(text, HasSubstr("(and 1 more like it)"));
  EXPECT_THAT(text, Not(HasSubstr("rank 1, element 4,096: the reduced")));
}

TEST(VerdictSentences, LeaveTheRestToThePageWhereACheckFindsSomethingEverywhere) {
  Comparison comparison = diverged_example();
  StageComparison& stage = comparison.stages[2];
  const Finding finding = stage.findings.front();
  for (int tensor = 0; tensor < 10; ++tensor) {
    stage.findings.push_back(finding);
    stage.findings.back().tensor = fmt::format("tensor {}", tensor);
  }

  const std::string text = verdict_sentences(comparison);

  EXPECT_THAT(text, HasSubstr("tensor 1"));
  EXPECT_THAT(text, Not(HasSubstr("tensor 2")));
  EXPECT_THAT(text, HasSubstr("INV found more in 8 places (report.html lists them)"));
}

TEST(Headline, NeverSaysEqualWhenACheckAloneHasDecided) {
  Comparison comparison = example_comparison();
  comparison.verdict = Verdict::kDiverged;
  EXPECT_THAT(headline(comparison), ::testing::StartsWith("Diverged"));
}

TEST(Headline, OfASingleStageSpeaksOfItsChecks) {
  Comparison comparison = example_comparison();
  comparison.stages.resize(1);
  EXPECT_THAT(headline(comparison),
              HasSubstr("Clean: ddp trained, and XR, NORM, INV, PROV, COMM and MEM found nothing"));
}

TEST(Headline, ClaimsNothingWhereNoCheckCouldSayAnything) {
  Comparison comparison = example_comparison();
  comparison.stages.resize(1);
  comparison.config.checks = {"REF"};  // and there is nothing to refer to
  EXPECT_THAT(headline(comparison), HasSubstr("Trained: ddp, without checks"));
  EXPECT_THAT(verdict_table(comparison), Not(HasSubstr("0/0")));
}

TEST(Colour, IsOffWhereItWasSwitchedOffOrNobodyWatches) {
  std::FILE* file = std::tmpfile();
  EXPECT_FALSE(wants_colour(file));
  std::fclose(file);
}

}  // namespace
}  // namespace zerolab
