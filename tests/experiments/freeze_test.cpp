// --freeze on the command line: compared, saved, loaded, kept apart by --baseline, and refused
// where it means nothing.
#include <gmock/gmock.h>

#include "stages/checkpoint/safetensors.h"
#include "tests/experiments/end_to_end.h"

namespace zerolab::test {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& line) {
  const CommandOutcome outcome = run_command("train --model gpt-tiny --steps 1 " + line);
  EXPECT_EQ(outcome.code, 2) << line;
  return outcome.err;
}

TEST_F(EndToEnd, FrozenTensorsAreEqualInAllStagesAndNotInTheTraffic) {
  const std::string job = "compare --steps 2 --ranks 3";
  ASSERT_EQ(run(job, "whole").code, 0);
  const CommandOutcome outcome = run(job + " --freeze w?e.* --freeze h.0.*", "frozen");

  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const Comparison whole = report("whole"), frozen = report("frozen");
  EXPECT_EQ(frozen.verdict, Verdict::kEqual);
  EXPECT_EQ(frozen.config.frozen, (std::vector<std::string>{"w?e.*", "h.0.*"}));
  const auto sent = [](const Comparison& comparison, std::size_t stage) {
    std::int64_t bytes = 0;
    for (const Volume& volume :
         comparison.stages[stage].result.ranks[0].training_volume[static_cast<std::size_t>(
             Traffic::kTraining)]) {
      bytes += volume.sent_intra;
    }
    return bytes;
  };
  for (const std::size_t stage : {0U, 1U, 2U}) {
    EXPECT_GT(sent(frozen, stage), 0);
    EXPECT_LT(sent(frozen, stage), sent(whole, stage) * 6 / 10);
  }
  EXPECT_GT(sent(frozen, 3), 2 * sent(frozen, 0));  // ZeRO-3 gathers what is frozen, too
}

TEST_F(EndToEnd, FrozenTensorsSurviveMixedPrecisionAndFiles) {
  const std::string job = "train --steps 2 --ranks 3 --precision bf16 --freeze h.0.* ";
  for (const std::string stage : {"ddp", "zero3"}) {
    const CommandOutcome outcome = run(
        job + "--stage " + stage + " --save-weights " + (scratch_ / stage) + ".safetensors", stage);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  const std::string saved = scratch_ / "zero3.safetensors";
  EXPECT_EQ(bytes_of(saved), bytes_of(scratch_ / "ddp.safetensors"));

  const std::string again = scratch_ / "again.safetensors";
  const CommandOutcome outcome =
      run(job + "--stage zero3 --load-weights " + saved + " --save-weights " + again, "again");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const SafetensorsFile before(saved), after(again);
  for (const SafetensorsEntry& entry : before.entries()) {
    std::vector<float> a(static_cast<std::size_t>(entry.bytes.size()) / 4), b(a.size());
    before.read(entry, {0, entry.bytes.size()}, a.data());
    ASSERT_NE(after.find(entry.name), nullptr);
    after.read(*after.find(entry.name), {0, entry.bytes.size()}, b.data());
    EXPECT_EQ(a == b, entry.name.starts_with("h.0.")) << entry.name;
  }
}

TEST_F(EndToEnd, ABaselineWithOtherFrozenTensorsIsRefused) {
  ASSERT_EQ(run("compare --steps 1 --ranks 2 --freeze h.0.*", "before").code, 0);
  const CommandOutcome outcome =
      run("compare --steps 1 --ranks 2 --baseline " + (scratch_ / "before"), "now");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--freeze"));
}

TEST(Freeze, IsRefusedWhereItMeansNothing) {
  EXPECT_THAT(refusal("--freeze h.9.*"), HasSubstr("no tensor matches 'h.9.*'"));
  EXPECT_THAT(refusal("--freeze *"), HasSubstr("leaves nothing to train"));
  EXPECT_THAT(refusal("--freeze wte.* --param-group wte.*:lr=2"),
              HasSubstr("takes all its tensors out of training"));
  EXPECT_THAT(refusal("--optimizer muon --freeze *.c_*.weight"),
              HasSubstr("no hidden matrix to train"));
  const std::string blocks = "--accumulate 2 --skip-block-every 2 --freeze w?e.* --freeze ln_f.* ";
  EXPECT_THAT(refusal(blocks + "--freeze h.[123].*"), HasSubstr("leaves only h.0 to train"));
}

TEST_F(EndToEnd, ABlockThatIsNotBypassedMayTrainAlone) {
  const CommandOutcome outcome =
      run("compare --steps 2 --ranks 2 --accumulate 2 --skip-block-every 2 --freeze w?e.* "
          "--freeze ln_f.* --freeze h.0.*",
          "run");
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
}

}  // namespace
}  // namespace zerolab::test
