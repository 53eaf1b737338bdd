#include "experiments/report/steps_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "stages/core/error.h"
#include "tests/report/example_comparison.h"
#include "tests/tools/temporary_directory.h"

namespace zerolab {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class StepsFile : public ::testing::Test {
 protected:
  StepsFile() : path_(directory_ / "steps.jsonl"), result_(example_comparison().stages[1].result) {}

  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  std::string refusal(const std::string& changed) const {
    std::ofstream(path_) << changed;
    try {
      read_steps(path_);
    } catch (const BadInput& error) {
      return error.what();
    }
    return "nothing was refused";
  }
  std::string replaced(const std::string& from, const std::string& to) const {
    std::string changed = text();
    return changed.replace(changed.find(from), from.size(), to);
  }

  TemporaryDirectory directory_;
  std::filesystem::path path_;
  StageResult result_;
};

TEST_F(StepsFile, GivesBackEveryStepToTheLastBit) {
  result_.ranks[0].steps[1].loss = std::nextafter(2.0, 3.0);
  write_steps(path_, result_);

  const std::vector<StepLine> steps = read_steps(path_);

  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].record.loss, result_.steps()[0].loss);
  EXPECT_EQ(steps[1].record.loss, std::nextafter(2.0, 3.0));
  EXPECT_EQ(steps[2].record.grad_norm, result_.steps()[2].grad_norm);
  EXPECT_EQ(steps[2].record.learning_rate, result_.steps()[2].learning_rate);
  EXPECT_EQ(steps[2].record.tokens, 1536);
  EXPECT_FALSE(steps[1].record.held_out_loss);
  EXPECT_EQ(steps[2].record.held_out_loss, 2.718281828459045);
}

TEST_F(StepsFile, KeepsEachRanksPositionsAndTheSlowestRanksSeconds) {
  write_steps(path_, result_);
  const std::vector<StepLine> steps = read_steps(path_);
  ASSERT_EQ(steps[1].positions.size(), 3U);
  EXPECT_THAT(steps[1].positions[0], ElementsAre(2000, 2005));
  EXPECT_THAT(steps[1].positions[2], ElementsAre(2020, 2025));
  EXPECT_EQ(steps[1].record.seconds, result_.ranks[2].steps[1].seconds);
}

TEST_F(StepsFile, ANanLossIsWrittenAndReadAsOne) {
  result_.ranks[0].steps[0].loss = std::nan("");
  write_steps(path_, result_);
  EXPECT_THAT(text(), HasSubstr(R"("loss":null,"nonfinite":{"loss":"nan"})"));
  EXPECT_TRUE(std::isnan(read_steps(path_)[0].record.loss));
}

TEST_F(StepsFile, EndsWithTheNumberOfRecords) {
  write_steps(path_, result_);
  EXPECT_THAT(text(), ::testing::EndsWith("\n{\"end\":true,\"records\":3}\n"));
}

TEST_F(StepsFile, EveryTruncationIsRefusedWithTheFilesName) {
  write_steps(path_, result_);
  const std::string whole = text();
  for (std::size_t length = 0; length + 1 < whole.size(); ++length) {
    EXPECT_THAT(refusal(whole.substr(0, length)), HasSubstr("steps.jsonl")) << length;
  }
}

TEST_F(StepsFile, ATruncatedFileIsToldFromABrokenLine) {
  write_steps(path_, result_);
  const std::string whole = text();
  const std::size_t end_line = whole.find("{\"end\"");
  EXPECT_THAT(refusal(whole.substr(0, end_line)),
              AllOf(HasSubstr("ends after line 3"), HasSubstr("end line")));
  EXPECT_THAT(refusal(whole.substr(0, end_line - 5)),
              AllOf(HasSubstr("steps.jsonl:3"), HasSubstr("not a line of JSON")));
}

TEST_F(StepsFile, AWrongCountIsRefused) {
  write_steps(path_, result_);
  EXPECT_THAT(refusal(replaced("\"records\":3", "\"records\":4")),
              AllOf(HasSubstr("steps.jsonl:4"), HasSubstr("'records' is 4, expected 3")));
}

TEST_F(StepsFile, ALineAfterTheEndIsRefused) {
  write_steps(path_, result_);
  EXPECT_THAT(refusal(text() + "{}\n"), HasSubstr("steps.jsonl:5 comes after the end line"));
}

TEST_F(StepsFile, AStepThatIsMissingIsRefused) {
  write_steps(path_, result_);
  EXPECT_THAT(refusal(replaced("\"step\":2", "\"step\":3")),
              AllOf(HasSubstr("steps.jsonl:2"), HasSubstr("'step' is 3, expected 2")));
}

TEST_F(StepsFile, AKeyOfAnotherKindIsNamed) {
  write_steps(path_, result_);
  EXPECT_THAT(refusal(replaced("\"tokens\":1536", "\"tokens\":\"many\"")),
              AllOf(HasSubstr("steps.jsonl:1"), HasSubstr("'tokens' is \"many\"")));
}

TEST_F(StepsFile, ARankThatDisappearsIsRefused) {
  write_steps(path_, result_);
  EXPECT_THAT(refusal(replaced("[2000,2005],", "")),
              AllOf(HasSubstr("steps.jsonl:2"), HasSubstr("3 ranks")));
}

TEST_F(StepsFile, AnEmptyFileIsNoRun) {
  EXPECT_THAT(refusal(""), HasSubstr("without its end line"));
}

}  // namespace
}  // namespace zerolab
