// A config.json's dropout is applied, and said, unless the command line chooses.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/experiments/run_command.h"

namespace zerolab {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace test;

class DropoutOfFile : public testing::Test {
 protected:
  CommandOutcome train(const std::string& dropouts, const std::vector<std::string>& more) {
    const std::string path = scratch_ / "config.json";
    std::ofstream(path) << R"({"n_layer": 1, "n_embd": 8, "n_head": 2, "n_positions": 8,
                               "vocab_size": 256)"
                        << dropouts << "}";
    std::vector<std::string> line = {
        "train",   "--model", path,           "--ranks", "1",     "--steps",       "1",
        "--plots", "off",     "--eval-every", "0",       "--out", scratch_ / "run"};
    line.insert(line.end(), more.begin(), more.end());
    return run_command(line);
  }
  ScratchDirectory scratch_{"dropout-of-file"};
};

TEST_F(DropoutOfFile, IsAppliedAndSaid) {
  const CommandOutcome outcome =
      train(R"(, "embd_pdrop": 0.25, "attn_pdrop": 0.25, "resid_pdrop": 0.25)", {});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("dropout is 0.25"));
}

TEST_F(DropoutOfFile, GivesWayToTheCommandLine) {
  const CommandOutcome outcome = train("", {"--dropout", "0"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, Not(HasSubstr("dropout is")));
}

TEST_F(DropoutOfFile, OfSeveralKindsIsRefusedUnlessOneIsChosen) {
  EXPECT_EQ(train(R"(, "resid_pdrop": 0.2)", {}).code, 2);
  EXPECT_EQ(train(R"(, "resid_pdrop": 0.2)", {"--dropout", "0.1"}).code, 0);
}

}  // namespace
}  // namespace zerolab
