#include "experiments/bench/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "stages/core/error.h"

namespace zerolab {
namespace {

using namespace std::chrono_literals;

constexpr auto kGrace = 2s;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  for (const auto& [name, value] : more) {
    std::erase_if(all, [&](const std::string& e) { return e.starts_with(name + "="); });
    all.push_back(name + "=" + value);
  }
  return all;
}

class FileActions {
 public:
  explicit FileActions(int connection) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, connection, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, connection, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

int exit_code(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command,
                           const std::vector<std::pair<std::string, std::string>>& environment)
    : program_(command.at(0)) {
  // A socket and not a pipe: writing to a child that has gone is then an error and no signal.
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    fail("[bench] no connection to {} can be made ({})", program_, std::strerror(errno));
  }
  connection_ = ends[0];
  std::vector<std::string> arguments = command;
  std::vector<std::string> variables = environment_with(environment);
  const FileActions actions(ends[1]);
  const int error = posix_spawnp(&pid_, program_.c_str(), actions.get(), nullptr,
                                 pointers(arguments).data(), pointers(variables).data());
  close(ends[1]);
  if (error == 0) return;
  pid_ = -1;
  close_connection();
  fail("[bench] {} cannot be started ({})", program_, std::strerror(error));
}

ChildProcess::~ChildProcess() {
  close_connection();
  const auto start = std::chrono::steady_clock::now();
  while (pid_ > 0) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) != 0) break;
    if (std::chrono::steady_clock::now() - start > kGrace) kill(pid_, SIGKILL);
    std::this_thread::sleep_for(5ms);
  }
}

void ChildProcess::write_line(const std::string& line) {
  const std::string text = line + "\n";
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t part = send(connection_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) fail("[bench] {} has ended unexpectedly", program_);
    sent += static_cast<std::size_t>(part);
  }
}

std::optional<std::string> ChildProcess::read_line() {
  for (;;) {
    if (const std::size_t end = received_.find('\n'); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    std::array<char, 4096> chunk{};
    const ssize_t got = recv(connection_, chunk.data(), chunk.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    received_.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

int ChildProcess::wait() {
  close_connection();
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return exit_code(status);
}

void ChildProcess::close_connection() {
  if (connection_ >= 0) close(connection_);
  connection_ = -1;
}

}  // namespace zerolab
