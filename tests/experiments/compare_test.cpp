// The main job in small, from the command line to the report directory.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "experiments/report/report_json.h"
#include "stages/checkpoint/safetensors.h"
#include "stages/comm/world.h"
#include "tests/experiments/end_to_end.h"

namespace zerolab {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace test;

class EndToEndOn : public EndToEnd, public testing::WithParamInterface<int> {};

TEST_P(EndToEndOn, AllStagesAreEqualToDdp) {
  const CommandOutcome outcome =
      run("compare --steps 3 --ranks " + std::to_string(GetParam()), "run");

  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Equal: zero1, zero2 and zero3"));
  const Comparison comparison = report("run");
  EXPECT_EQ(comparison.verdict, Verdict::kEqual);
  ASSERT_EQ(comparison.stages.size(), 4U);
  for (const StageComparison& stage : comparison.stages) {
    EXPECT_EQ(stage.verdict, Verdict::kEqual) << stage.result.name;
    EXPECT_EQ(stage.result.steps().size(), 3U);
    EXPECT_TRUE(stage.findings.empty()) << stage.findings.front().message;
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, EndToEndOn, testing::Values(1, 2, 3, 4));

TEST_F(EndToEnd, WithSeveralMicroBatchesThePairInLocalOrderHasItsOwnVerdict) {
  const CommandOutcome outcome = run("compare --steps 3 --ranks 3 --accumulate 2", "run");

  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const Comparison comparison = report("run");
  ASSERT_EQ(comparison.stages.size(), 6U);
  EXPECT_EQ(comparison.stages[5].result.name, "zero1.local");
  EXPECT_EQ(comparison.stages[5].compared_with, "ddp.local");
  EXPECT_EQ(comparison.stages[5].verdict, Verdict::kEqual);
  EXPECT_THAT(outcome.out, HasSubstr("ddp.local adds up each rank's micro-batches before"));
}

TEST_F(EndToEnd, LocalOrderLeavesOutTheStagesThatCannotAndSaysSo) {
  const CommandOutcome outcome =
      run("compare --steps 2 --ranks 2 --accumulate 2 --accumulation-order local", "run");

  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(report("run").stages.size(), 2U);
  EXPECT_THAT(outcome.out, HasSubstr("zero2 and zero3 keep no full gradient"));
}

TEST_F(EndToEnd, ARingOfThreeIsExplainedByItsOrder) {
  const CommandOutcome outcome = run("compare --steps 4 --ranks 3 --reduction ring", "run");

  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const Comparison comparison = report("run");
  EXPECT_EQ(comparison.verdict, Verdict::kExplained);
  EXPECT_EQ(comparison.stages[1].verdict, Verdict::kEqual);      // zero1 cuts like ddp
  EXPECT_EQ(comparison.stages[3].verdict, Verdict::kExplained);  // zero3 does not
  EXPECT_THAT(comparison.stages[3].reason, HasSubstr("with --reduction ordered it is equal"));
  EXPECT_THAT(comparison.stages[3].reason, HasSubstr("inside the envelope of 3 clean runs"));
  ASSERT_TRUE(comparison.noise_floor);
  // 2γ(2), u = 2⁻²⁴: three terms, two additions.
  EXPECT_NEAR(*comparison.noise_floor->gradient_bound, 4 * 0x1p-24, 0x1p-44);
  const std::vector<StepRecord>& zero3 = comparison.stages[3].result.steps();
  for (std::size_t i = 0; i < 4; ++i) {
    const double distance = std::abs(zero3[i].loss - comparison.stages[0].result.steps()[i].loss);
    EXPECT_LE(distance, comparison.noise_floor->loss.at(i));
  }
}

TEST_F(EndToEnd, MixedPrecisionSavesItsMasterWeights) {
  ASSERT_EQ(run("train --stage zero3 --steps 2 --ranks 2 --precision bf16 --save-weights " +
                    (scratch_ / "zero3.safetensors"),
                "a")
                .code,
            0);
  ASSERT_EQ(run("train --stage ddp --steps 2 --ranks 2 --precision bf16 --save-weights " +
                    (scratch_ / "ddp.safetensors"),
                "b")
                .code,
            0);
  const std::string zero3 = bytes_of(scratch_ / "zero3.safetensors");
  EXPECT_FALSE(zero3.empty());
  EXPECT_EQ(zero3, bytes_of(scratch_ / "ddp.safetensors"));
}

TEST_F(EndToEnd, StepsThatOverflowUnderARingAreNotTakenForWrongSums) {
  const CommandOutcome outcome =
      run("compare --steps 12 --ranks 3 --stages ddp,zero3 --reduction ring --precision fp16 "
          "--loss-scale-power 24 --loss-scale-hysteresis 1",
          "run");

  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const Comparison comparison = report("run");
  const std::vector<StepRecord>& steps = comparison.stages[1].result.steps();
  EXPECT_TRUE(steps.front().skipped);
  EXPECT_FALSE(steps.back().skipped);
}

TEST_F(EndToEnd, SixteenBitsHaveANoiseFloorAlthoughTheStagesAreEqual) {
  const CommandOutcome outcome =
      run("compare --steps 2 --ranks 3 --stages ddp,zero1 --precision bf16", "run");

  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const Comparison comparison = report("run");
  EXPECT_EQ(comparison.verdict, Verdict::kEqual);
  ASSERT_TRUE(comparison.noise_floor);
  EXPECT_EQ(comparison.noise_floor->clean_runs, 3);
  EXPECT_EQ(comparison.noise_floor->loss.size(), 2U);
  EXPECT_GT(comparison.noise_floor->grad_norm.at(1), 0);
  EXPECT_EQ(comparison.noise_floor->loss_bound.size(), comparison.noise_floor->loss.size());
  EXPECT_GT(comparison.noise_floor->grad_norm_bound.at(1), comparison.noise_floor->grad_norm.at(1));
}

TEST_F(EndToEnd, InFp32WithOurOrderThereIsNoNoise) {
  ASSERT_EQ(run("compare --steps 1 --ranks 3 --stages ddp,zero1", "run").code, 0);
  EXPECT_FALSE(report("run").noise_floor);
}

TEST_F(EndToEnd, AFaultUnderTheRingIsNotTakenForNoise) {
  const CommandOutcome outcome =
      run("compare --steps 4 --ranks 3 --reduction ring --fault discard-reduced --stages ddp,zero1",
          "run");

  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
}

TEST_F(EndToEnd, RepetitionAndRegroupingFindNothingInCleanRuns) {
  const CommandOutcome outcome =
      run("compare --steps 2 --ranks 3 --check REF,REP,IG,ORD --stages ddp,zero2", "run");

  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
}

TEST_F(EndToEnd, AFaultDivergesAndIsTracedToItsElement) {
  const CommandOutcome outcome = run("compare --steps 3 --ranks 3 --fault discard-reduced", "run");

  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  const Comparison comparison = report("run");
  EXPECT_EQ(comparison.verdict, Verdict::kDiverged);
  for (const StageComparison& stage : comparison.stages) {
    EXPECT_EQ(stage.verdict == Verdict::kDiverged, stage.result.name == "zero1");
    EXPECT_EQ(stage.findings.empty(), stage.result.name != "zero1") << stage.result.name;
  }
  const std::optional<Divergence>& divergence = comparison.stages[1].first_divergence;
  ASSERT_TRUE(divergence);
  EXPECT_EQ(divergence->step, 1);
  EXPECT_EQ(divergence->phase, "gradients");
  EXPECT_GE(divergence->element, 0);
  EXPECT_NE(divergence->reference_value, divergence->value);
  EXPECT_THAT(outcome.out, HasSubstr("caught and localised by every detector"));
}

class CaughtFault : public EndToEnd, public testing::WithParamInterface<const char*> {};

TEST_P(CaughtFault, IsCaughtAndLocalised) {
  const CommandOutcome outcome =
      run(std::string("faults run ") + GetParam() + " --bucket-mb 0.01 --steps 3", "run");

  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
}

INSTANTIATE_TEST_SUITE_P(Museum, CaughtFault,
                         testing::Values("discard-reduced", "norm-double-reduce", "sum-not-mean",
                                         "bucket-overwritten-in-flight",
                                         "rank-dependent-collectives", "matrix-optimizer-on-slice",
                                         "one-decay-per-flat-shard"));

TEST_F(EndToEnd, AFaultThatADetectorMissesIsNotCaught) {
  const CommandOutcome outcome = run("faults run sum-not-mean --steps 2 --check REF", "run");

  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("NORM  was not among --check"));
}

TEST_F(EndToEnd, TheBaselineMustHaveTheSameBits) {
  ASSERT_EQ(run("compare --steps 2 --ranks 2 --eval-every 0", "before").code, 0);

  // Other buckets cannot change a bit; the baseline is held against all four stages.
  const CommandOutcome same =
      run("compare --steps 2 --ranks 2 --eval-every 0 --bucket-mb 0.01 --baseline " +
              (scratch_ / "before"),
          "same");
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  EXPECT_THAT(same.out, HasSubstr("bit by bit"));

  const CommandOutcome other =
      run("compare --steps 2 --ranks 2 --eval-every 0 --data " ZEROLAB_SOURCE_DIR
          "/experiments/compare/compare_stages.cpp --baseline " +
              (scratch_ / "before"),
          "other");
  EXPECT_EQ(other.code, 1) << other.out << other.err;
}

/// Makes a report look as if another binary had written it.
void change_environment(const std::string& report) {
  std::ifstream in(report);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::string key = "\"key\": \"binary ";
  const std::size_t place = text.find(key);
  ASSERT_NE(place, std::string::npos);
  text.insert(place + key.size(), "of somebody else, ");
  std::ofstream(report) << text;
}

TEST_F(EndToEnd, ABaselineOfAnotherEnvironmentIsHeldAgainstTheRoundingBound) {
  ASSERT_EQ(run("compare --steps 3 --ranks 2 --stages ddp,zero1 --eval-every 0", "before").code, 0);
  ASSERT_EQ(run("compare --steps 3 --ranks 2 --stages ddp,zero1 --eval-every 0 --data " +
                    std::string(ZEROLAB_SOURCE_DIR "/experiments/compare/compare_stages.cpp"),
                "elsewhere")
                .code,
            0);
  change_environment(scratch_ / "before/report.json");
  change_environment(scratch_ / "elsewhere/report.json");

  const CommandOutcome same =
      run("compare --steps 3 --ranks 2 --stages ddp,zero1 --eval-every 0 --baseline " +
              (scratch_ / "before"),
          "a");
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  EXPECT_THAT(same.out, HasSubstr("within the rounding bound"));

  const CommandOutcome other =
      run("compare --steps 3 --ranks 2 --stages ddp,zero1 --eval-every 0 --baseline " +
              (scratch_ / "elsewhere"),
          "b");
  EXPECT_EQ(other.code, 1) << other.out << other.err;
  EXPECT_THAT(other.out, HasSubstr("outside the bound"));
}

TEST_F(EndToEnd, ABaselineOfOtherTrainingIsBadInputAndNamesTheOption) {
  ASSERT_EQ(run("compare --steps 2 --ranks 2 --stages ddp", "before").code, 0);

  const CommandOutcome outcome =
      run("compare --steps 2 --ranks 2 --lr 0.5 --baseline " + (scratch_ / "before"), "after");

  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--lr"));
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "after"));
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "after.partial"));
}

TEST_F(EndToEnd, ABaselineThatHasLostAStageIsBadInput) {
  ASSERT_EQ(run("compare --steps 2 --ranks 2 --stages ddp,zero1", "before").code, 0);
  std::filesystem::remove_all(scratch_ / "before/zero1");

  const CommandOutcome outcome = run(
      "compare --steps 2 --ranks 2 --stages ddp,zero1 --baseline " + (scratch_ / "before"), "a");

  EXPECT_EQ(outcome.code, 2) << outcome.out;
  EXPECT_THAT(outcome.err, HasSubstr("has lost files of zero1"));
}

TEST_F(EndToEnd, ABaselineWithoutFingerprintsClaimsLossesOnly) {
  const std::string job = "compare --steps 2 --ranks 2 --stages ddp,zero1 ";
  ASSERT_EQ(run(job + "--check none", "before").code, 0);

  const CommandOutcome outcome = run(job + "--baseline " + (scratch_ / "before"), "after");

  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("fingerprints were not taken"));
}

TEST_F(EndToEnd, TwoStagesTrainedApartAreEqualInDiff) {
  ASSERT_EQ(run("train --stage zero1 --steps 3 --ranks 3", "a").code, 0);
  ASSERT_EQ(run("train --stage zero3 --steps 3 --ranks 3", "b").code, 0);
  ASSERT_EQ(run("train --stage zero3 --steps 3 --ranks 3 --seed 5", "c").code, 0);

  EXPECT_EQ(run_command({"diff", scratch_ / "a", scratch_ / "b"}).code, 0);
  EXPECT_EQ(run_command({"diff", scratch_ / "a", scratch_ / "c"}).code, 1);
}

TEST_F(EndToEnd, SavedWeightsDoNotDependOnTheStageThatHoldsThem) {
  for (const char* stage : {"ddp", "zero1", "zero2", "zero3"}) {
    const CommandOutcome outcome = run(std::string("train --steps 2 --ranks 3 --stage ") + stage +
                                           " --save-weights " + (scratch_ / stage) + ".safetensors",
                                       stage);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }

  const std::string ddp = bytes_of(scratch_ / "ddp.safetensors");
  EXPECT_FALSE(ddp.empty());
  EXPECT_EQ(bytes_of(scratch_ / "zero1.safetensors"), ddp);
  EXPECT_EQ(bytes_of(scratch_ / "zero2.safetensors"), ddp);
  EXPECT_EQ(bytes_of(scratch_ / "zero3.safetensors"), ddp);
}

TEST_F(EndToEnd, WeightsPassThroughATrainingOfNoSteps) {
  const std::string first = scratch_ / "first.safetensors";
  const std::string second = scratch_ / "second.safetensors";

  ASSERT_EQ(run("train --stage zero3 --steps 0 --ranks 2 --save-weights " + first, "a").code, 0);
  ASSERT_EQ(run("train --stage ddp --steps 0 --ranks 3 --seed 9 --load-weights " + first +
                    " --save-weights " + second,
                "b")
                .code,
            0);

  EXPECT_EQ(bytes_of(second), bytes_of(first));
}

TEST_F(EndToEnd, TheWalkthroughTellsWhatMoves) {
  const CommandOutcome outcome =
      run("train --stage zero3 --steps 1 --ranks 2 --walkthrough --trace", "run");

  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("all-gather"));
  EXPECT_TRUE(std::filesystem::exists(scratch_ / "run/zero3/trace.json"));
}

TEST_F(EndToEnd, WithoutATerminalProgressIsPlainLines) {
  const CommandOutcome outcome = run_command(
      "train --model gpt-micro --ranks 2 --steps 20 --plots off --out " + (scratch_ / "run"));

  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("step 10/20"));
  EXPECT_THAT(outcome.err, HasSubstr("step 20/20"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("\r")));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 2);
}

TEST_F(EndToEnd, FaultsListShowsEveryLabel) {
  const CommandOutcome outcome = run_command("faults list");

  EXPECT_EQ(outcome.code, 0);
  for (const char* text : {"discard-reduced", "DeepSpeed #966", "detectors", "in the loss"}) {
    EXPECT_THAT(outcome.out, HasSubstr(text));
  }
}

}  // namespace
}  // namespace zerolab
