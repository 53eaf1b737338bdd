// Differences that have a name: from the command line to the verdict and the option that removes
// it.
#include <gmock/gmock.h>

#include "tests/experiments/end_to_end.h"

namespace zerolab {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace test;

TEST_F(EndToEnd, TheUsualOrderOfAccumulationIsExplained) {
  const CommandOutcome outcome =
      run("compare --steps 3 --ranks 2 --accumulate 3 --accumulation-order usual", "run");

  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const Comparison comparison = report("run");
  ASSERT_EQ(comparison.stages.size(), 4U);
  EXPECT_EQ(comparison.stages[1].verdict, Verdict::kEqual) << "zero1 adds up locally, like ddp";
  EXPECT_EQ(comparison.stages[2].verdict, Verdict::kExplained);
  EXPECT_THAT(comparison.stages[2].reason,
              HasSubstr("with --accumulation-order reduced it is equal"));
}

TEST_F(EndToEnd, LambOnShardsIsExplainedWithoutABoundOfRounding) {
  const CommandOutcome outcome =
      run("compare --steps 3 --ranks 2 --optimizer lamb --lamb-norms shard", "run");

  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const StageComparison& zero3 = report("run").stages[3];
  EXPECT_EQ(zero3.verdict, Verdict::kExplained);
  EXPECT_THAT(zero3.reason, HasSubstr("with --lamb-norms tensor it is equal"));
  EXPECT_THAT(zero3.reason, Not(HasSubstr("bound")));
}

TEST_F(EndToEnd, AnotherNumberOfRanksWithA16BitPayloadIsExplained) {
  const std::string job =
      "compare --steps 2 --ranks 4 --stages ddp --reduction tree --precision bf16 --check REF,IG";
  const CommandOutcome narrow = run(job, "narrow");
  EXPECT_EQ(narrow.code, 0) << narrow.out << narrow.err;
  EXPECT_EQ(report("narrow").verdict, Verdict::kExplained);
  EXPECT_THAT(narrow.out, HasSubstr("with --reduce-dtype fp32 it is equal"));

  const CommandOutcome wide = run(job + " --reduce-dtype fp32", "wide");
  EXPECT_EQ(wide.code, 0) << wide.out << wide.err;
  EXPECT_EQ(report("wide").verdict, Verdict::kEqual);
}

TEST_F(EndToEnd, ADiffOfTwoMicroBatchSizesIsExplained) {
  ASSERT_EQ(run_command("train --model gpt-micro --steps 2 --ranks 2 --micro-batch 4 --quiet "
                        "--plots off --out " +
                        (scratch_ / "a"))
                .code,
            0);
  ASSERT_EQ(run_command("train --model gpt-micro --steps 2 --ranks 2 --micro-batch 2 --accumulate "
                        "2 --quiet --plots off --out " +
                        (scratch_ / "b"))
                .code,
            0);

  EXPECT_EQ(run_command({"diff", scratch_ / "a", scratch_ / "b"}).code, 1);
  const CommandOutcome outcome = run_command({"diff", scratch_ / "a", scratch_ / "b", "--explain"});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("with --micro-batch 2 it is equal"));
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
