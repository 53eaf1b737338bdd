#include "experiments/report/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <optional>

#include "experiments/report/json_lines.h"
#include "experiments/report/write_report.h"
#include "stages/core/error.h"
#include "tests/report/example_comparison.h"
#include "tests/tools/temporary_directory.h"

namespace zerolab {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

template <class Expected, class Act>
std::string message(Act&& act) {
  try {
    act();
  } catch (const Expected& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(RunDirectory, TakesTheNextFreeNumber) {
  const TemporaryDirectory directory;
  const fs::path runs = directory / "runs";
  fs::create_directories(runs / "007");
  fs::create_directories(runs / "notes");

  RunDirectory run("", runs);

  EXPECT_EQ(run.final_path(), runs / "008");
  EXPECT_EQ(run.path(), runs / "008.partial");
  EXPECT_TRUE(fs::is_directory(run.path()));
}

TEST(RunDirectory, TwoRunsAtOnceGetTwoNumbers) {
  const TemporaryDirectory directory;
  const fs::path runs = directory / "runs";
  const RunDirectory first("", runs);
  const RunDirectory second("", runs);
  EXPECT_EQ(first.final_path(), runs / "001");
  EXPECT_EQ(second.final_path(), runs / "002");
}

TEST(RunDirectory, AppearsUnderItsNameOnlyWhenCommitted) {
  const TemporaryDirectory directory;
  const fs::path out = directory / "out";
  RunDirectory run(out.string());
  std::ofstream(run.path() / "file") << "content";
  EXPECT_FALSE(fs::exists(out));

  run.commit();

  EXPECT_TRUE(fs::exists(out / "file"));
  EXPECT_EQ(directory.entries(), 1U);
}

TEST(RunDirectory, AFailedRunLeavesNothing) {
  const TemporaryDirectory directory;
  {
    const RunDirectory run((directory / "a/b/out").string());
    std::ofstream(run.folder("zero1") / "file") << "half";
  }
  EXPECT_EQ(directory.entries(), 0U);
}

TEST(RunDirectory, AFailedRunLeavesOtherPeoplesFilesAlone) {
  const TemporaryDirectory directory;
  {
    const RunDirectory run((directory / "a/out").string());
    std::ofstream(directory / "a/theirs") << "content";
  }
  EXPECT_TRUE(fs::exists(directory / "a/theirs"));
}

TEST(RunDirectory, AnExistingDirectoryIsBadInputEvenWhenEmpty) {
  const TemporaryDirectory directory;
  fs::create_directory(directory / "out");
  EXPECT_THAT(message<BadInput>([&] { RunDirectory((directory / "out").string()); }),
              AllOf(HasSubstr("out exists already"), HasSubstr("--out")));
  EXPECT_THAT(message<BadInput>([&] { RunDirectory((directory / "out/").string()); }),
              HasSubstr("exists already"));
}

TEST(RunDirectory, TheRemainsOfAKilledRunAreNamed) {
  const TemporaryDirectory directory;
  fs::create_directory(directory / "out.partial");
  EXPECT_THAT(message<BadInput>([&] { RunDirectory((directory / "out").string()); }),
              AllOf(HasSubstr("out.partial exists"), HasSubstr("remove it")));
  EXPECT_TRUE(fs::exists(directory / "out.partial"));
}

TEST(RunDirectory, AFileInTheWayIsBadInput) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "file") << "content";
  EXPECT_THAT(message<BadInput>([&] { RunDirectory((directory / "file/out").string()); }),
              AllOf(HasSubstr("file is a file"), HasSubstr("--out")));
  EXPECT_THAT(message<BadInput>([&] { RunDirectory("/"); }), HasSubstr("no name"));
}

TEST(RunDirectory, ADirectoryThatAppearsMeanwhileIsNotReplaced) {
  const TemporaryDirectory directory;
  const fs::path out = directory / "out";
  RunDirectory run(out.string());
  std::ofstream(run.path() / "file") << "content";
  fs::create_directory(out);

  EXPECT_THAT(message<Failure>([&] { run.commit(); }), HasSubstr("out.partial"));

  EXPECT_TRUE(fs::is_empty(out));
  EXPECT_TRUE(fs::exists(directory / "out.partial/file"));
}

/// No file of this process may grow beyond `bytes`: writing more fails, as on a full disk.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(RunDirectory, AFullDiskIsAFailureThatLeavesNothing) {
  const TemporaryDirectory directory;
  const Comparison comparison = example_comparison();
  std::string text;
  {
    RunDirectory run((directory / "out").string());
    const SmallDisk disk(2048);
    text = message<Failure>([&] { write_report(comparison, example_tensors(), run); });
  }
  EXPECT_THAT(text, HasSubstr("cannot write"));
  EXPECT_EQ(directory.entries(), 0U);
}

TEST(JsonLines, AFileIsThereOnlyWhenFinished) {
  const TemporaryDirectory directory;
  { JsonLinesWriter file(directory / "lines.jsonl"); }
  EXPECT_EQ(directory.entries(), 0U);
}

}  // namespace
}  // namespace zerolab
