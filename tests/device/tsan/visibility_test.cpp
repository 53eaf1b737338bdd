/// \file
/// Forgotten waits between streams are visible to ThreadSanitizer. Only built with it.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

namespace zerolab {
namespace {

constexpr int kRuns = 5;

/// In how many of `kRuns` runs ThreadSanitizer reports a race.
int races(const std::string& arguments) {
  const std::string command =
      "TSAN_OPTIONS='exitcode=66' '" ZEROLAB_FORGOTTEN_WAIT "' " + arguments + " > /dev/null 2>&1";
  int count = 0;
  for (int run = 0; run < kRuns; ++run) {
    const int status = std::system(command.c_str());
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    EXPECT_TRUE(code == 0 || code == 66) << command << " ended with " << code;
    if (code == 66) ++count;
  }
  return count;
}

TEST(ThreadSanitizer, IsSilentWhenAllWaitsAreMade) { EXPECT_EQ(races("complete"), 0); }

TEST(ThreadSanitizer, SeesAForgottenWaitForFreshData) { EXPECT_EQ(races("'bucket full'"), kRuns); }

TEST(ThreadSanitizer, SeesAForgottenWaitForAFreeBucket) {
  EXPECT_EQ(races("'bucket free'"), kRuns);
}

TEST(ThreadSanitizer, SeesFreedMemoryUsedAfterItsReuse) { EXPECT_EQ(races("reuse"), kRuns); }

TEST(ThreadSanitizer, IsSilentOnTheWatchersOfACompleteProgram) {
  EXPECT_EQ(races("complete watched"), 0);
}

TEST(ThreadSanitizer, SeesForgottenWaitsThroughTheWatchers) {
  EXPECT_EQ(races("'bucket full' watched"), kRuns);
  EXPECT_EQ(races("'bucket free' watched"), kRuns);
}

}  // namespace
}  // namespace zerolab
