#include "experiments/diff/diff.h"

#include <gmock/gmock.h>

#include <fstream>
#include <limits>

#include "experiments/report/fingerprints_file.h"
#include "experiments/report/steps_file.h"
#include "tests/experiments/made_results.h"
#include "tests/experiments/run_command.h"

namespace zerolab {
namespace {

using testing::HasSubstr;
using namespace test;

class Diff : public testing::Test {
 protected:
  /// RUN/STAGE with the files that a run would have written.
  void write(const std::string& run, const StageResult& result, bool fingerprints = true) {
    const std::filesystem::path folder = scratch_ / run + "/" + result.name;
    std::filesystem::create_directories(folder);
    write_steps(folder / "steps.jsonl", result);
    if (fingerprints) {
      write_fingerprints(folder / "fingerprints.jsonl", result.fingerprints(), kTensors);
    }
  }
  CommandOutcome diff(const std::string& a, const std::string& b) {
    return run_command({"diff", scratch_ / a, scratch_ / b});
  }
  /// Cuts the file to `bytes` of its size, from the end when negative.
  void truncate(const std::string& file, std::int64_t bytes) {
    const std::string path = scratch_ / file;
    const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path));
    std::filesystem::resize_file(path,
                                 static_cast<std::uintmax_t>(bytes < 0 ? size + bytes : bytes));
  }

  ScratchDirectory scratch_{"diff"};
};

TEST_F(Diff, EqualRunsAreEqual) {
  write("a", made_result("zero1"));
  write("b", made_result("zero1"));

  const CommandOutcome outcome = diff("a", "b");

  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("zero1: equal over 4 steps"));
}

TEST_F(Diff, TwoStagesAreComparedAlthoughTheirNamesDiffer) {
  write("a", made_result("ddp"));
  write("b", made_result("zero3"));

  EXPECT_EQ(diff("a", "b").code, 0);
  EXPECT_EQ(diff("a/ddp", "b/zero3").code, 0);
}

TEST_F(Diff, OneFingerprintIsNamedByStepPhaseAndTensor) {
  StageResult other = made_result("zero1");
  other.ranks[0].fingerprints[2].values[2][1] += 1;
  write("a", made_result("zero1"));
  write("b", other);

  const CommandOutcome outcome = diff("a", "b");

  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("optimizer_state after step 2 differ first in wte.weight"));
}

TEST_F(Diff, TheLastBitOfALossCounts) {
  StageResult other = made_result("zero1");
  set_loss(other, 3, std::nextafter(other.steps()[2].loss, 10.0));
  write("a", made_result("zero1"));
  write("b", other);

  EXPECT_EQ(diff("a", "b").code, 1);
  EXPECT_THAT(diff("a", "b").out, HasSubstr("step 3"));
}

TEST_F(Diff, MissingStepsAreADivergence) {
  write("a", made_result("zero1", 3, 4));
  write("b", made_result("zero1", 3, 2));

  const CommandOutcome outcome = diff("a", "b");

  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("has 4 steps"));
  EXPECT_THAT(outcome.out, HasSubstr("has 2 steps"));
}

TEST_F(Diff, ARunWithoutStepsIsNotEqualToItsCopy) {
  write("a", made_result("zero1", 3, 0));
  write("b", made_result("zero1", 3, 0));

  EXPECT_EQ(diff("a", "b").code, 1);
}

TEST_F(Diff, NanIsNotEqualToNan) {
  StageResult broken = made_result("zero1");
  set_loss(broken, 2, std::numeric_limits<double>::quiet_NaN());
  write("a", broken);
  write("b", broken);

  EXPECT_EQ(diff("a", "b").code, 1);
}

TEST_F(Diff, OtherDataAreADivergence) {
  StageResult other = made_result("zero1");
  std::swap(other.ranks[0].steps[1].positions, other.ranks[1].steps[1].positions);
  write("a", made_result("zero1"));
  write("b", other);

  EXPECT_EQ(diff("a", "b").code, 1);
  EXPECT_THAT(diff("a", "b").out, HasSubstr("rank 0 read other data in step 2"));
}

TEST_F(Diff, WithoutFingerprintsLossesAreComparedAndItSaysSo) {
  write("a", made_result("zero1"));
  write("b", made_result("zero1"), false);

  const CommandOutcome outcome = diff("a", "b");

  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("one run has no fingerprints"));
}

TEST_F(Diff, StagesArePairedByNameAndAMissingOneIsADivergence) {
  write("a", made_result("ddp"));
  write("a", made_result("zero1"));
  write("b", made_result("zero1"));
  write("b", made_result("zero2"));

  const CommandOutcome outcome = diff("a", "b");

  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("b has no ddp"));
  EXPECT_THAT(outcome.out, HasSubstr("a has no zero2"));
}

TEST_F(Diff, RunsWithoutACommonStageAreBadInput) {
  write("a", made_result("ddp"));
  write("a", made_result("zero1"));
  write("b", made_result("zero2"));

  EXPECT_EQ(diff("a", "b").code, 2);
}

TEST_F(Diff, TheSameDirectoryTwiceIsBadInput) {
  write("a", made_result("zero1"));

  EXPECT_EQ(diff("a", "a/").code, 2);
}

TEST_F(Diff, ATruncatedStepsFileIsNamedWithItsLine) {
  write("a", made_result("zero1"));
  write("b", made_result("zero1"));
  truncate("b/zero1/steps.jsonl", -40);

  const CommandOutcome outcome = diff("a", "b");

  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("b/zero1/steps.jsonl:4"));
}

TEST_F(Diff, AStepsFileCutBetweenLinesIsNamed) {
  write("a", made_result("zero1"));
  write("b", made_result("zero1"));
  truncate("b/zero1/steps.jsonl",
           -static_cast<std::int64_t>(std::string("{\"end\":true,\"records\":4}\n").size()));

  const CommandOutcome outcome = diff("a", "b");

  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("ends after line 4"));
}

TEST_F(Diff, ATruncatedFingerprintFileIsNamed) {
  write("a", made_result("zero1"));
  write("b", made_result("zero1"));
  truncate("a/zero1/fingerprints.jsonl", 100);

  const CommandOutcome outcome = diff("a", "b");

  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("a/zero1/fingerprints.jsonl:1"));
}

TEST_F(Diff, AnEmptyStepsFileIsBadInput) {
  write("a", made_result("zero1"));
  write("b", made_result("zero1"));
  truncate("b/zero1/steps.jsonl", 0);

  EXPECT_EQ(diff("a", "b").code, 2);
}

TEST_F(Diff, ADirectoryWithoutARunIsBadInput) {
  write("a", made_result("zero1"));
  std::filesystem::create_directories(scratch_ / "b");

  EXPECT_EQ(diff("a", "b").code, 2);
}

}  // namespace
}  // namespace zerolab
