#include "experiments/bench/child_process.h"

#include <gtest/gtest.h>

#include "stages/core/error.h"

namespace zerolab {
namespace {

TEST(ChildProcess, AnswersLineByLine) {
  ChildProcess echo({"cat"}, {});

  echo.write_line("one");
  EXPECT_EQ(echo.read_line(), "one");
  echo.write_line("two");
  EXPECT_EQ(echo.read_line(), "two");
}

TEST(ChildProcess, GivesTheVariablesOnTopOfItsOwn) {
  ChildProcess shell({"sh", "-c", "echo $ZEROLAB_TEST; echo $PATH"}, {{"ZEROLAB_TEST", "here"}});

  EXPECT_EQ(shell.read_line(), "here");
  EXPECT_NE(shell.read_line(), "");
}

TEST(ChildProcess, EndsItsLinesWhenTheChildEnds) {
  ChildProcess shell({"sh", "-c", "echo last; exit 7"}, {});

  EXPECT_EQ(shell.read_line(), "last");
  EXPECT_EQ(shell.read_line(), std::nullopt);
  EXPECT_EQ(shell.wait(), 7);
}

TEST(ChildProcess, FailsInsteadOfDyingWhenTheChildHasGone) {
  ChildProcess shell({"sh", "-c", "exit 0"}, {});
  ASSERT_EQ(shell.read_line(), std::nullopt);

  EXPECT_THROW(shell.write_line("anybody?"), Failure);
}

TEST(ChildProcess, SaysWhichProgramIsMissing) {
  try {
    ChildProcess missing({"zerolab-no-such-program"}, {});
    FAIL() << "it was started";
  } catch (const Failure& failure) {
    EXPECT_NE(std::string(failure.what()).find("zerolab-no-such-program"), std::string::npos);
  }
}

}  // namespace
}  // namespace zerolab
