// REF must not be deceived: what it may not call equal.
#include "experiments/checks/reference_check.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/checks/rig.h"
#include "zero1/zero1.h"

namespace zerolab::test {
namespace {

class ReferenceCheck : public testing::Test {
 protected:
  static RunConfig config() {
    RunConfig config = micro_config(3);
    config.checks = {"REF"};
    return config;
  }
  static void SetUpTestSuite() {
    clean_ = new StageResult(train(config(), "ddp"));
    same_ = new StageResult(train(config(), "zero2"));
  }
  static void TearDownTestSuite() {
    delete clean_;
    delete same_;
  }

  /// The finding about a run that should be equal, after `spoil`.
  template <class Spoil>
  static std::string finding_after(Spoil&& spoil) {
    StageResult spoiled = *same_;
    spoil(spoiled);
    return text_of(check_reference(*clean_, spoiled, layout_of(config()), config().steps));
  }

  static StageResult* clean_;
  static StageResult* same_;
};
StageResult* ReferenceCheck::clean_ = nullptr;
StageResult* ReferenceCheck::same_ = nullptr;

TEST_F(ReferenceCheck, CallsTwoStagesEqual) {
  EXPECT_EQ(finding_after([](StageResult&) {}), "");
}

TEST_F(ReferenceCheck, NamesTheFirstStepPhaseAndTensorThatDiffer) {
  StageResult spoiled = *same_;
  auto& fingerprints = spoiled.ranks[1].fingerprints;
  fingerprints[3].values[2][0] ^= 1;  // after the next two
  fingerprints[2].values[1][5] ^= 1;
  fingerprints[2].values[1][9] ^= 1;
  const ParameterLayout layout = layout_of(config());
  const auto findings = check_reference(*clean_, spoiled, layout, config().steps);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].check, "REF");
  EXPECT_EQ(findings[0].step, 2);
  EXPECT_EQ(findings[0].phase, "parameters");
  EXPECT_EQ(findings[0].tensor, layout.tensor(5).name);
}

TEST_F(ReferenceCheck, ComparesTheStateBeforeTraining) {
  EXPECT_NE(finding_after([](StageResult& run) {
              run.ranks[0].fingerprints[0].values[1][3] ^= 1;
            }).find("step 0"),
            std::string::npos);
}

TEST_F(ReferenceCheck, RejectsARunComparedWithItself) {
  EXPECT_FALSE(check_reference(*clean_, *clean_, layout_of(config()), config().steps).empty());
}

TEST_F(ReferenceCheck, RejectsMissingSteps) {
  EXPECT_NE(finding_after([](StageResult& run) {
              for (RankResult& rank : run.ranks) {
                rank.steps.pop_back();
                rank.fingerprints.pop_back();
              }
            }),
            "");
  EXPECT_NE(finding_after([](StageResult& run) { run.ranks[2].fingerprints.pop_back(); }), "");
  EXPECT_NE(finding_after([](StageResult& run) {
              for (RankResult& rank : run.ranks) {
                rank.steps.erase(rank.steps.begin() + 1);
                rank.steps.push_back(rank.steps.back());
              }
            }),
            "");
}

TEST_F(ReferenceCheck, RejectsEmptyRuns) {
  EXPECT_NE(finding_after([](StageResult& run) { run.ranks.clear(); }), "");
  const StageResult a, b;
  EXPECT_FALSE(check_reference(a, b, layout_of(config()), 0).empty());
}

TEST_F(ReferenceCheck, RejectsMissingAndBlankFingerprints) {
  EXPECT_NE(finding_after([](StageResult& run) {
              for (RankResult& rank : run.ranks) rank.fingerprints.clear();
            }),
            "");
  EXPECT_NE(finding_after([](StageResult& run) {
              for (RankResult& rank : run.ranks) rank.fingerprints[2].values[0].clear();
            }),
            "");
}

TEST_F(ReferenceCheck, RejectsFingerprintsThatAreBlankInBothRuns) {
  const auto blank_one = [](StageResult run) {
    for (RankResult& rank : run.ranks) rank.fingerprints[2].values[0][4] = 0;
    return run;
  };
  const auto findings =
      check_reference(blank_one(*clean_), blank_one(*same_), layout_of(config()), config().steps);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].message.find("blank"), std::string::npos) << findings[0].message;
}

TEST_F(ReferenceCheck, RejectsNanInBothRuns) {
  for (const bool in_norm : {false, true}) {
    const auto with_nan = [&](StageResult run) {
      for (RankResult& rank : run.ranks) {
        if (in_norm) {
          rank.steps[1].grad_norm = std::numeric_limits<float>::quiet_NaN();
        } else {
          rank.steps[1].loss = std::numeric_limits<double>::quiet_NaN();
        }
      }
      return run;
    };
    EXPECT_FALSE(
        check_reference(with_nan(*clean_), with_nan(*same_), layout_of(config()), config().steps)
            .empty());
  }
}

TEST_F(ReferenceCheck, RejectsRanksInTheWrongPlace) {
  EXPECT_NE(finding_after([](StageResult& run) { std::swap(run.ranks[0], run.ranks[2]); }), "");
}

TEST_F(ReferenceCheck, RejectsOtherData) {
  EXPECT_NE(finding_after([](StageResult& run) {
              std::swap(run.ranks[0].steps[1].positions, run.ranks[1].steps[1].positions);
            }),
            "");
}

TEST_F(ReferenceCheck, RejectsRanksThatAllReadTheSame) {
  const auto same_data = [](StageResult run) {
    for (RankResult& rank : run.ranks) {
      for (std::size_t s = 0; s < rank.steps.size(); ++s) {
        rank.steps[s].positions = run.ranks[0].steps[s].positions;
      }
    }
    return run;
  };
  const auto findings =
      check_reference(same_data(*clean_), same_data(*same_), layout_of(config()), config().steps);
  EXPECT_NE(text_of(findings).find("read the same data"), std::string::npos) << text_of(findings);
}

TEST_F(ReferenceCheck, RejectsAGradientOfZero) {
  const auto without_gradient = [](StageResult run) {
    for (RankResult& rank : run.ranks) rank.steps[2].grad_norm = 0;
    return run;
  };
  const auto findings = check_reference(without_gradient(*clean_), without_gradient(*same_),
                                        layout_of(config()), config().steps);
  EXPECT_NE(text_of(findings).find("is zero in step 3"), std::string::npos) << text_of(findings);
}

/// The step never runs.
class IdleZero1 final : public Zero1 {
 public:
  using Zero1::Zero1;

 protected:
  void update_owned(View, const StepSettings&) override {}
};

TEST_F(ReferenceCheck, RejectsRunsInWhichNothingIsUpdated) {
  const StageResult a = train(config(), run_of<IdleZero1>("zero1"));
  const StageResult b = train(config(), run_of<IdleZero1>("zero1"));
  const auto findings = check_reference(a, b, layout_of(config()), config().steps);
  EXPECT_NE(text_of(findings).find("no parameter of zero1 changed in step 1"), std::string::npos)
      << text_of(findings);
}

TEST_F(ReferenceCheck, SeesALossThatDiffersWhereNoTensorDoes) {
  EXPECT_NE(finding_after([](StageResult& run) {
              for (RankResult& rank : run.ranks) rank.steps[1].loss += 1e-12;
            }).find("loss of step 2"),
            std::string::npos);
}

TEST(Fingerprints, OfSwappedMomentsDiffer) {
  RunConfig config = micro_config(2);
  config.checks = {"REF"};
  const StageResult result = train(config, "zero1");
  const auto prints = result.fingerprints();
  ASSERT_EQ(prints.size(), 5U);
  EXPECT_TRUE(prints[0].values[0].empty()) << "no gradient before the first step";
  EXPECT_EQ(prints[1].values[2].size(), layout_of(config).tensors().size());
  // Both moments are zero before training: with equal weights the sum would be an even number of
  // times one hash and could not tell them apart.
  EXPECT_NE(prints[0].values[2], prints[1].values[2]);
}

TEST(Fingerprints, OfAnOptimizerWithoutStateAreEmpty) {
  RunConfig config = micro_config(2);
  config.checks = {"REF"};
  config.optimizer.name = "sgd";
  config.optimizer.momentum = 0;
  for (const StepFingerprints& step : train(config, "zero3").fingerprints()) {
    EXPECT_TRUE(step.values[2].empty());
  }
}

}  // namespace
}  // namespace zerolab::test
