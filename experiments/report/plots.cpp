#include "experiments/report/plots.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "stages/core/error.h"

namespace zerolab {
namespace {

/// What plots.py returns when a file cannot be written.
constexpr int kCannotWrite = 3;

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

class SpawnActions {
 public:
  SpawnActions() { ::posix_spawn_file_actions_init(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  ~SpawnActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

struct Outcome {
  bool started = false;
  int exit_code = -1;
  std::string errors;  ///< what it wrote to standard error
};

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> piece{};
  for (;;) {
    const ssize_t got = ::read(descriptor, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

/// No shell: the directory's name may hold anything.
Outcome run(const std::string& program, std::vector<std::string> arguments) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    fail("[plots] no pipe to Python: {}", std::strerror(errno));
  }
  Descriptor from(pipe[0]), to(pipe[1]);
  SpawnActions actions;
  ::posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(actions.get(), STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(actions.get(), to.get(), STDERR_FILENO);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  Outcome outcome;
  const int error =
      ::posix_spawnp(&child, program.c_str(), actions.get(), nullptr, argv.data(), environ);
  to.close();
  if (error != 0) {
    outcome.errors = std::strerror(error);
    return outcome;
  }
  outcome.started = true;
  outcome.errors = read_all(from.get());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

/// Python says last what went wrong.
std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

std::string draw_plots(const std::filesystem::path& directory, const std::string& python,
                       const std::string& script) {
  if (python.empty()) {
    return "no plots: no Python with matplotlib was found when zerolab was configured; install "
           "python3-matplotlib and configure again";
  }
  const Outcome outcome =
      run(python, {python, script, (directory / "report.json").string(), directory.string()});
  if (!outcome.started) {
    return fmt::format("no plots: {} cannot be started: {}", python, outcome.errors);
  }
  if (outcome.exit_code == 0) return "";
  if (outcome.exit_code == kCannotWrite) {
    fail("[plots] cannot write the plots: {}", last_line(outcome.errors));
  }
  return fmt::format("no plots: {} failed: {}", python, last_line(outcome.errors));
}

std::string draw_plots(const std::filesystem::path& directory) {
  return draw_plots(directory, ZEROLAB_PYTHON, ZEROLAB_PLOTS);
}

}  // namespace zerolab
