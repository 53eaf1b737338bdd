#include "experiments/compare/judge.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "experiments/compare/envelope.h"
#include "tests/experiments/made_results.h"

namespace zerolab {
namespace {

using testing::HasSubstr;
using namespace test;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class Judging : public testing::Test {
 protected:
  Judgement judge() const { return judge_bits(reference_, candidate_, terms_); }
  RankResult& rank(int r) { return candidate_.ranks.at(static_cast<std::size_t>(r)); }

  StageResult reference_ = made_result("ddp");
  StageResult candidate_ = made_result("zero2");
  Terms terms_ = made_terms();
};

TEST_F(Judging, EqualBitsAreEqual) {
  EXPECT_EQ(judge().verdict, Verdict::kEqual);
  EXPECT_FALSE(judge().difference);
}

TEST_F(Judging, FingerprintsMayBeSharedOutDifferentlyAmongTheRanks) {
  // The reference keeps everything on rank 0, as replicated state does.
  for (std::size_t s = 0; s < reference_.ranks[0].fingerprints.size(); ++s) {
    for (std::size_t p = 0; p < 3; ++p) {
      auto& own = reference_.ranks[0].fingerprints[s].values[p];
      for (std::size_t r = 1; r < 3; ++r) {
        auto& share = reference_.ranks[r].fingerprints[s].values[p];
        for (std::size_t t = 0; t < own.size(); ++t) {
          own[t] += share[t];
          share[t] = 0;
        }
      }
    }
  }

  EXPECT_EQ(judge().verdict, Verdict::kEqual);
}

TEST_F(Judging, OneOtherFingerprintIsNamedByStepPhaseAndTensor) {
  rank(1).fingerprints[3].values[0][1] += 1;

  const Judgement judgement = judge();

  EXPECT_EQ(judgement.verdict, Verdict::kDiverged);
  ASSERT_TRUE(judgement.difference);
  EXPECT_EQ(judgement.difference->step, 3);
  EXPECT_EQ(judgement.difference->phase, "gradients");
  EXPECT_EQ(judgement.difference->tensor, 1);
  EXPECT_THAT(judgement.reason, HasSubstr("wte.weight"));
}

TEST_F(Judging, TheTensorIsNamedBeforeTheLossThatFollowsFromIt) {
  rank(0).fingerprints[2].values[1][0] += 1;
  set_loss(candidate_, 3, 4.0);

  EXPECT_EQ(judge().difference->phase, "parameters");
  EXPECT_EQ(judge().difference->step, 2);
}

TEST_F(Judging, InitialParametersThatDifferAreStepZero) {
  rank(2).fingerprints[0].values[1][0] += 1;

  EXPECT_EQ(judge().difference->step, 0);
}

TEST_F(Judging, TheLastBitOfALossIsADifference) {
  set_loss(candidate_, 4, std::nextafter(reference_.steps()[3].loss, 0.0));

  EXPECT_EQ(judge().verdict, Verdict::kDiverged);
  EXPECT_EQ(judge().difference->phase, "loss");
  EXPECT_EQ(judge().difference->step, 4);
}

TEST_F(Judging, NanIsNotEqualToNan) {
  set_loss(reference_, 2, kNan);
  set_loss(candidate_, 2, kNan);

  EXPECT_EQ(judge().verdict, Verdict::kDiverged);
  EXPECT_THAT(judge().reason, HasSubstr("step 2"));
}

TEST_F(Judging, AnInfiniteNormIsNotEqualToItself) {
  for (StageResult* result : {&reference_, &candidate_}) {
    for (RankResult& r : result->ranks) r.steps[1].grad_norm = HUGE_VALF;
  }

  EXPECT_EQ(judge().verdict, Verdict::kDiverged);
}

TEST_F(Judging, AMissingLastStepIsADivergence) {
  for (RankResult& r : candidate_.ranks) r.steps.pop_back();

  EXPECT_EQ(judge().verdict, Verdict::kDiverged);
  EXPECT_THAT(judge().reason, HasSubstr("3 steps instead of 4"));
}

TEST_F(Judging, AMissingRankIsADivergence) {
  candidate_.ranks.pop_back();

  EXPECT_EQ(judge().verdict, Verdict::kDiverged);
}

TEST_F(Judging, EmptyCurvesAreNotEqual) {
  for (StageResult* result : {&reference_, &candidate_}) {
    for (RankResult& r : result->ranks) {
      r.steps.clear();
      r.fingerprints.clear();
    }
  }
  terms_.steps = 0;
  terms_.fingerprints = false;

  EXPECT_EQ(judge().verdict, Verdict::kDiverged);
}

TEST_F(Judging, SwappedRanksAreADivergence) {
  std::swap(candidate_.ranks[1], candidate_.ranks[2]);

  EXPECT_EQ(judge().verdict, Verdict::kDiverged);
  EXPECT_THAT(judge().reason, HasSubstr("rank 2 of zero2 reported in place of rank 1"));
}

TEST_F(Judging, RanksThatReadEachOthersDataAreADivergence) {
  std::swap(rank(1).steps[2].positions, rank(2).steps[2].positions);

  EXPECT_EQ(judge().verdict, Verdict::kDiverged);
  EXPECT_EQ(judge().difference->phase, "data");
  EXPECT_EQ(judge().difference->step, 3);
}

TEST_F(Judging, RanksThatDisagreeAboutTheLossAreADivergence) {
  rank(2).steps[0].loss += 1e-9;

  EXPECT_EQ(judge().verdict, Verdict::kDiverged);
  EXPECT_THAT(judge().reason, HasSubstr("rank 2"));
}

TEST_F(Judging, BlankFingerprintsProveNothing) {
  for (StageResult* result : {&reference_, &candidate_}) {
    for (RankResult& r : result->ranks) r.fingerprints[2].values[1] = {0, 0};
  }

  EXPECT_EQ(judge().verdict, Verdict::kDiverged);
  EXPECT_THAT(judge().reason, HasSubstr("blank"));
}

TEST_F(Judging, MissingFingerprintsProveNothing) {
  for (StageResult* result : {&reference_, &candidate_}) {
    for (RankResult& r : result->ranks) r.fingerprints.pop_back();
  }

  EXPECT_EQ(judge().verdict, Verdict::kDiverged);
}

TEST_F(Judging, AFindingIsADivergenceEvenWhenTheBitsAreEqual) {
  Finding finding;
  finding.check = "MEM";
  finding.message = "rank 1 holds 4 bytes more than predicted";
  rank(1).findings.push_back(finding);

  EXPECT_EQ(judge().verdict, Verdict::kDiverged);
  EXPECT_EQ(judge().reason, "MEM: rank 1 holds 4 bytes more than predicted");
}

TEST_F(Judging, AnUnsoundReferenceMakesNothingEqual) {
  for (RankResult& r : reference_.ranks) r.steps.pop_back();

  EXPECT_EQ(judge_reference(reference_, terms_).verdict, Verdict::kDiverged);
  EXPECT_EQ(judge().verdict, Verdict::kDiverged);
}

class JudgingNoise : public testing::Test {
 protected:
  JudgingNoise() {
    // The third run has other rounding from step 2 on.
    for (std::int64_t step = 2; step <= 4; ++step) {
      set_loss(permuted_, step, reference_.steps()[static_cast<std::size_t>(step - 1)].loss + 1e-6);
    }
    candidate_.ranks[0].fingerprints[1].values[0][0] += 1;
    clean_ = {reference_.steps(), permuted_.steps()};
  }
  Judgement judge() const {
    return judge_noise(reference_, candidate_, clean_, terms_,
                       judge_bits(reference_, candidate_, made_terms()));
  }

  Terms terms_ = made_terms();
  StageResult reference_ = made_result("ddp");
  StageResult permuted_ = made_result("ddp");
  StageResult candidate_ = made_result("zero3");
  std::vector<std::vector<StepRecord>> clean_;
};

TEST_F(JudgingNoise, ASmallDistanceIsWithinNoise) {
  set_loss(candidate_, 3, reference_.steps()[2].loss - 2e-6);

  EXPECT_EQ(judge().verdict, Verdict::kWithinNoise);
}

TEST_F(JudgingNoise, ClaimsTheRoundingBoundOnlyWhereItWasHeld) {
  set_loss(candidate_, 3, reference_.steps()[2].loss - 2e-6);
  EXPECT_THAT(judge().reason, HasSubstr("and the rounding bound"));

  terms_.bounds = false;
  EXPECT_EQ(judge().verdict, Verdict::kWithinNoise);
  EXPECT_THAT(judge().reason, testing::Not(HasSubstr("bound")));
}

TEST_F(JudgingNoise, ALargeDistanceIsADivergence) {
  set_loss(candidate_, 3, reference_.steps()[2].loss - 5e-6);

  EXPECT_EQ(judge().verdict, Verdict::kDiverged);
  EXPECT_THAT(judge().reason, HasSubstr("step 3"));
}

TEST_F(JudgingNoise, TheFirstLossMustHaveTheSameBits) {
  set_loss(candidate_, 1, std::nextafter(reference_.steps()[0].loss, 0.0));

  EXPECT_EQ(judge().verdict, Verdict::kDiverged);
  EXPECT_THAT(judge().reason, HasSubstr("step 1"));
}

TEST_F(JudgingNoise, EqualBitsStayEqual) {
  candidate_ = made_result("zero2");

  EXPECT_EQ(judge().verdict, Verdict::kEqual);
}

TEST_F(JudgingNoise, AFindingIsNotNoise) {
  Finding finding;
  finding.check = "INV";
  finding.message = "outside the bound";
  candidate_.ranks[1].findings.push_back(finding);

  EXPECT_EQ(judge().verdict, Verdict::kDiverged);
}

TEST_F(JudgingNoise, NanIsNotNoise) {
  set_loss(candidate_, 3, kNan);

  EXPECT_EQ(judge().verdict, Verdict::kDiverged);
}

TEST_F(JudgingNoise, AStepThatCleanRunsSkipHasNoNormToCompare) {
  for (StageResult* result : {&reference_, &permuted_, &candidate_}) skip(*result, 2);
  clean_ = {reference_.steps(), permuted_.steps()};
  set_loss(candidate_, 3, reference_.steps()[2].loss - 2e-6);

  EXPECT_EQ(judge().verdict, Verdict::kWithinNoise) << judge().reason;
}

TEST_F(JudgingNoise, ASkippedStepLeavesTheSpreadOfNormsToTheOthers) {
  skip(reference_, 2);
  for (RankResult& rank : permuted_.ranks) rank.steps[2].grad_norm += 0x1p-20F;
  const Envelope envelope({reference_.steps(), permuted_.steps()});

  EXPECT_EQ(envelope.norm(1, kNan), 4 * 0x1p-20);
}

TEST_F(JudgingNoise, AStepThatNoCleanRunSkipsMustNotBeSkipped) {
  skip(candidate_, 2);

  EXPECT_EQ(judge().verdict, Verdict::kDiverged);
  EXPECT_EQ(judge().reason, "it skips step 2, which no permuted clean run does");
}

TEST_F(JudgingNoise, WithoutSpreadNothingIsNoise) {
  clean_ = {reference_.steps(), reference_.steps()};
  set_loss(candidate_, 3, reference_.steps()[2].loss + 1e-12);

  EXPECT_EQ(judge().verdict, Verdict::kDiverged);
}

}  // namespace
}  // namespace zerolab
