// Differences that have a name: from the command line to the verdict and the option that removes
// it.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/experiments/end_to_end.h"

namespace zerolab {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using namespace test;

/// Cause, switch, size and bound in one sentence.
std::string explained(const char* cause, const char* option, const char* whose, int steps,
                      const char* bound) {
  return fmt::format(
      "differs because {}; with {} it is equal; its loss differs from {} by at most [0-9.e-]+ "
      "\\(step [0-9]+\\) over {} steps; {}",
      cause, option, whose, steps, bound);
}
constexpr const char* kOfAGradient =
    "the bound is [0-9.e-]+ of the sum of its terms' magnitudes for an element of the gradient";

TEST_F(EndToEnd, TheOrderOfARingIsExplained) {
  const CommandOutcome outcome = run("compare --steps 3 --ranks 3 --reduction ring", "run");

  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const Comparison comparison = report("run");
  EXPECT_EQ(comparison.stages[2].verdict, Verdict::kEqual) << "zero2 has the buckets of ddp";
  EXPECT_EQ(comparison.stages[3].verdict, Verdict::kExplained);
  EXPECT_THAT(comparison.stages[3].reason,
              ContainsRegex(explained("a ring adds up in an order that follows the cut",
                                      "--reduction ordered", "ddp's", 3, kOfAGradient)));
}

TEST_F(EndToEnd, TheUsualOrderOfAccumulationIsExplained) {
  const CommandOutcome outcome =
      run("compare --steps 3 --ranks 2 --accumulate 3 --accumulation-order usual", "run");

  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const Comparison comparison = report("run");
  ASSERT_EQ(comparison.stages.size(), 4U);
  EXPECT_EQ(comparison.stages[1].verdict, Verdict::kEqual) << "zero1 adds up locally, like ddp";
  for (const std::size_t stage : {2U, 3U}) {
    EXPECT_EQ(comparison.stages[stage].verdict, Verdict::kExplained);
    EXPECT_THAT(comparison.stages[stage].reason,
                ContainsRegex(explained("one adds up each rank's micro-batches before it reduces, "
                                        "the other reduces each micro-batch",
                                        "--accumulation-order reduced", "ddp's", 3, kOfAGradient)));
  }
}

TEST_F(EndToEnd, LambOnShardsIsExplainedWithoutABoundOfRounding) {
  const CommandOutcome outcome =
      run("compare --steps 3 --ranks 2 --optimizer lamb --lr 0.03 --lamb-norms shard", "run");

  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const StageComparison zero3 = report("run").stages[3];
  EXPECT_EQ(zero3.verdict, Verdict::kExplained);
  EXPECT_THAT(zero3.reason,
              ContainsRegex(explained("LAMB takes its norms over each rank's shard of a tensor, so "
                                      "every cut is another optimizer",
                                      "--lamb-norms tensor", "ddp's", 3,
                                      "this is not rounding, so no bound of rounding holds")));
}

/// Rounds to 16 bits on the way, so that the number of ranks shows in the bits.
class NarrowPayload : public EndToEnd, public testing::WithParamInterface<const char*> {};

TEST_P(NarrowPayload, OnAnotherNumberOfRanksIsExplained) {
  const std::string job =
      std::string("compare --steps 4 --ranks 4 --stages ddp --reduction tree ") +
      "--check REF,IG --precision " + GetParam() +
      (GetParam() == std::string("fp16") ? " --loss-scale-power 12" : "");
  const CommandOutcome narrow = run(job, "narrow");
  EXPECT_EQ(narrow.code, 0) << narrow.out << narrow.err;
  EXPECT_EQ(report("narrow").verdict, Verdict::kExplained);
  const std::string cause =
      fmt::format("gradients are rounded to {} before and after each reduction", GetParam());
  EXPECT_THAT(narrow.out, ContainsRegex(explained(cause.c_str(), "--reduce-dtype fp32",
                                                  "the original's", 4, kOfAGradient)));

  const CommandOutcome wide = run(job + " --reduce-dtype fp32", "wide");
  EXPECT_EQ(wide.code, 0) << wide.out << wide.err;
  EXPECT_EQ(report("wide").verdict, Verdict::kEqual);
}
INSTANTIATE_TEST_SUITE_P(Precisions, NarrowPayload, testing::Values("bf16", "fp16"));

TEST_F(EndToEnd, SumsOf16BitsOverMicroBatchesAreExplained) {
  const CommandOutcome outcome =
      run("compare --steps 2 --ranks 2 --accumulate 4 --stages zero2 --reduction tree --precision "
          "bf16 --reduce-dtype fp32 --accumulate-dtype bf16 --check REF,IG",
          "run");
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Clean: zero2 trained"));
  EXPECT_THAT(outcome.out, ContainsRegex(explained("sums over micro-batches are rounded to bf16",
                                                   "--accumulate-dtype fp32", "the original's", 2,
                                                   kOfAGradient)));
}

TEST_F(EndToEnd, ADiffOfTwoMicroBatchSizesIsExplained) {
  const std::string job = "train --model gpt-micro --steps 2 --ranks 2 --quiet --plots off ";
  ASSERT_EQ(run_command(job + "--micro-batch 4 --out " + (scratch_ / "a")).code, 0);
  ASSERT_EQ(run_command(job + "--micro-batch 2 --accumulate 2 --out " + (scratch_ / "b")).code, 0);

  EXPECT_EQ(run_command({"diff", scratch_ / "a", scratch_ / "b"}).code, 1);
  const CommandOutcome outcome = run_command({"diff", scratch_ / "a", scratch_ / "b", "--explain"});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out,
              ContainsRegex(explained("micro-batches of 4 and of 2 sequences add up inside their "
                                      "products in different orders",
                                      "--micro-batch 2", "the other's", 2,
                                      "the bound is [0-9.e-]+ for the loss of step [0-9]+")));
}

TEST_F(EndToEnd, ADiffOfTwoSeedsIsNotExplained) {
  for (const char* seed : {"1", "2"}) {
    ASSERT_EQ(run_command(std::string("train --model gpt-micro --steps 2 --ranks 2 --quiet --plots "
                                      "off --seed ") +
                          seed + " --out " + (scratch_ / seed))
                  .code,
              0);
  }
  const CommandOutcome outcome = run_command({"diff", scratch_ / "1", scratch_ / "2", "--explain"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("they differ in more than a named difference"));
}

}  // namespace
}  // namespace zerolab
