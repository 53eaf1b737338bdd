#include "stages/core/atomic_file.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <iterator>

#include "stages/core/error.h"
#include "tests/tools/temporary_directory.h"

namespace zerolab {
namespace {

std::string content_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// While it lives, files cannot grow beyond `bytes`: what a full disk looks like to a writer.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

class AtomicFiles : public testing::Test {
 protected:
  TemporaryDirectory directory_;
  const std::filesystem::path path_ = directory_ / "report.json";
};

TEST_F(AtomicFiles, AppearWithTheirWholeContentOnCommit) {
  AtomicFile file(path_);
  file.append("one ");
  file.append("two");
  EXPECT_FALSE(std::filesystem::exists(path_));
  file.commit();
  EXPECT_EQ(content_of(path_), "one two");
  EXPECT_EQ(directory_.entries(), 1U);
}

TEST_F(AtomicFiles, LeaveNothingBehindWithoutCommit) {
  { AtomicFile(path_).append("half"); }
  EXPECT_EQ(directory_.entries(), 0U);
}

TEST_F(AtomicFiles, KeepTheOldContentUntilCommit) {
  write_file_atomically(path_, "old");
  {
    AtomicFile file(path_);
    file.append("new");
    EXPECT_EQ(content_of(path_), "old");
  }
  EXPECT_EQ(content_of(path_), "old");
  write_file_atomically(path_, "new");
  EXPECT_EQ(content_of(path_), "new");
}

TEST_F(AtomicFiles, MayBeFilledOutOfOrder) {
  AtomicFile file(path_);
  file.write_at(3, "def", 3);
  file.write_at(0, "abc", 3);
  file.commit();
  EXPECT_EQ(content_of(path_), "abcdef");
}

TEST_F(AtomicFiles, OfTwoWritersOfOneTargetDoNotMix) {
  AtomicFile first(path_), second(path_);
  first.append("first");
  second.append("second");
  second.commit();
  first.commit();
  EXPECT_EQ(content_of(path_), "first");
  EXPECT_EQ(directory_.entries(), 1U);
}

TEST_F(AtomicFiles, FailOnAFullDiskAndLeaveTheOldContent) {
  write_file_atomically(path_, "old");
  const std::string large(1 << 20, 'x');
  {
    const FileSizeLimit full_disk(1 << 16);
    EXPECT_THAT([&] { write_file_atomically(path_, large); },
                testing::ThrowsMessage<Failure>(testing::AllOf(
                    testing::HasSubstr("[file] cannot write"), testing::HasSubstr("report.json"))));
  }
  EXPECT_EQ(content_of(path_), "old");
  EXPECT_EQ(directory_.entries(), 1U);
}

TEST_F(AtomicFiles, FailWhereTheFolderIsMissing) {
  EXPECT_THAT([&] { AtomicFile(directory_ / "none" / "x"); },
              testing::ThrowsMessage<Failure>(testing::HasSubstr("[file] cannot create")));
}

}  // namespace
}  // namespace zerolab
