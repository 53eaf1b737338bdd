// How long a newcomer waits for `zerolab compare`.
#include <filesystem>

#include "experiments/bench/child_process.h"
#include "experiments/bench/topics.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

/// A directory that is removed with all that is in it.
class Scratch {
 public:
  Scratch() : path_((std::filesystem::temp_directory_path() / "zerolab-bench-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) {
      fail("[bench] no temporary directory can be made at {}; set TMPDIR", path_);
    }
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string operator/(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

void run_once(const CompareSettings& settings) {
  const Scratch scratch;
  std::vector<std::string> command = {settings.program, "compare"};
  command.insert(command.end(), settings.options.begin(), settings.options.end());
  for (const std::string& more : {std::string("--quiet"), std::string("--out"), scratch / "run"}) {
    command.push_back(more);
  }
  ChildProcess process(command, {});
  std::string last;
  while (const auto line = process.read_line()) {
    if (!line->empty()) last = *line;
  }
  if (const int code = process.wait(); code != 0) {
    fail("[bench] zerolab compare ended with exit code {} and '{}'; run it by hand", code, last);
  }
}

}  // namespace

std::vector<Figure> bench_compare(const CompareSettings& settings, Remarks& remarks) {
  std::vector<double> seconds;
  for (int i = 0; i < settings.samples; ++i) {
    remarks.tell("compare: the whole main job");
    seconds.push_back(seconds_of([&] { run_once(settings); }));
  }
  return {{"compare",
           "zerolab compare",
           "seconds of the whole main job, report included",
           "s",
           spread_of(std::move(seconds)),
           Goal{std::nullopt, 60, std::nullopt},
           {}}};
}

}  // namespace zerolab
