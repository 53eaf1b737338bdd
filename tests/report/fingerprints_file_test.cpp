#include "experiments/report/fingerprints_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "stages/core/error.h"
#include "tests/report/example_comparison.h"
#include "tests/tools/temporary_directory.h"

namespace zerolab {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class FingerprintsFile : public ::testing::Test {
 protected:
  FingerprintsFile()
      : path_(directory_ / "fingerprints.jsonl"),
        fingerprints_(example_comparison().stages[2].result.fingerprints()) {}

  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  std::string refusal(const std::string& from, const std::string& to) const {
    std::string changed = text();
    changed.replace(changed.find(from), from.size(), to);
    std::ofstream(path_) << changed;
    try {
      read_fingerprints(path_);
    } catch (const BadInput& error) {
      return error.what();
    }
    return "nothing was refused";
  }

  TemporaryDirectory directory_;
  std::filesystem::path path_;
  std::vector<StepFingerprints> fingerprints_;
};

TEST_F(FingerprintsFile, GivesBackAll64Bits) {
  fingerprints_[0].values[1][2] = 0xffffffffffffffffU;
  fingerprints_[0].values[1][0] = 1;
  write_fingerprints(path_, fingerprints_, example_tensors());

  const FingerprintFile file = read_fingerprints(path_);

  EXPECT_EQ(file.tensors, example_tensors());
  ASSERT_EQ(file.steps.size(), 3U);
  for (std::size_t s = 0; s < 3; ++s) {
    EXPECT_EQ(file.steps[s].step, fingerprints_[s].step);
    EXPECT_EQ(file.steps[s].values, fingerprints_[s].values);
  }
}

TEST_F(FingerprintsFile, APhaseThatAStepDoesNotHaveStaysEmpty) {
  fingerprints_[0].step = 0;  // before training there are no gradients
  fingerprints_[0].values[0].clear();
  write_fingerprints(path_, fingerprints_, example_tensors());
  const FingerprintFile file = read_fingerprints(path_);
  EXPECT_TRUE(file.steps[0].values[0].empty());
  EXPECT_EQ(file.steps[0].values[1], fingerprints_[0].values[1]);
}

TEST_F(FingerprintsFile, AHashOfAnotherLengthIsRefusedWithItsTensor) {
  write_fingerprints(path_, fingerprints_, example_tensors());
  EXPECT_THAT(refusal("\"wte.weight\":\"f", "\"wte.weight\":\""),
              AllOf(HasSubstr("fingerprints.jsonl:1"), HasSubstr("'gradients.wte.weight'"),
                    HasSubstr("16 hexadecimal digits")));
}

TEST_F(FingerprintsFile, LettersThatAreNoDigitsAreRefused) {
  write_fingerprints(path_, fingerprints_, example_tensors());
  EXPECT_THAT(refusal("\"wte.weight\":\"fe", "\"wte.weight\":\"-e"), HasSubstr("hexadecimal"));
}

TEST_F(FingerprintsFile, ATensorThatDisappearsIsRefused) {
  write_fingerprints(path_, fingerprints_, example_tensors());
  const std::string second_line = text().substr(text().find('\n'));
  const std::size_t name = second_line.find("\"ln_f.weight\"");
  const std::string member = second_line.substr(name, second_line.find(',', name) - name + 1);
  EXPECT_THAT(refusal(member, ""),
              AllOf(HasSubstr("fingerprints.jsonl:2"), HasSubstr("the same tensors")));
}

TEST_F(FingerprintsFile, AMissingPhaseIsRefused) {
  write_fingerprints(path_, fingerprints_, example_tensors());
  EXPECT_THAT(refusal("\"optimizer_state\"", "\"optimiser_state\""),
              HasSubstr("has no 'optimizer_state'"));
}

TEST_F(FingerprintsFile, StepsMustRise) {
  write_fingerprints(path_, fingerprints_, example_tensors());
  EXPECT_THAT(refusal("\"step\":3", "\"step\":2"),
              AllOf(HasSubstr("fingerprints.jsonl:3"), HasSubstr("a step after 2")));
}

}  // namespace
}  // namespace zerolab
