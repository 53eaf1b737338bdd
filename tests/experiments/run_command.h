// Runs a command line of zerolab in this process.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "experiments/cli/run_cli.h"

namespace zerolab::test {

struct CommandOutcome {
  int code = 0;
  std::string out, err;
};

inline CommandOutcome run_command(const std::vector<std::string>& words) {
  std::vector<const char*> argv = {"zerolab"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  std::ostringstream out, err;
  CommandOutcome outcome;
  outcome.code = run_cli(static_cast<int>(argv.size()), argv.data(), out, err);
  outcome.out = out.str();
  outcome.err = err.str();
  return outcome;
}

/// "compare --ranks 3" as words.
inline CommandOutcome run_command(const std::string& line) {
  std::istringstream words(line);
  std::vector<std::string> all;
  for (std::string word; words >> word;) all.push_back(word);
  return run_command(all);
}

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A directory of the test's own, empty at first, gone afterwards.
class ScratchDirectory {
 public:
  explicit ScratchDirectory(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              ("zerolab-" + name + "-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace zerolab::test
