/// \file
/// The exceptions of the project and the exit code that each one stands for.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace zerolab {

/// Base of all errors. A message is one sentence: [component] what was found, what was expected,
/// what to do about it.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  /// The process's exit code when the error ends the run (1 is kept for "the stages diverged").
  virtual int exit_code() const noexcept { return 3; }
};

/// The user's input (option, file, checkpoint, data) is wrong: exit code 2.
class BadInput : public Error {
 public:
  using Error::Error;
  int exit_code() const noexcept override { return 2; }
};

/// Something failed while running (disk full, a rank died, a collective mismatched): exit code 3.
class Failure : public Error {
 public:
  explicit Failure(const std::string& message, int odd_rank = -1)
      : Error(message), odd_rank_(odd_rank) {}
  /// The rank that made another collective call than the others, or none; -1: another failure.
  int odd_rank() const noexcept { return odd_rank_; }

 private:
  int odd_rank_;
};

/// Another rank failed first; this rank stops with it. Carries the first rank's message.
class Aborted : public Failure {
 public:
  using Failure::Failure;
};

template <class... Args>
[[noreturn]] void bad_input(fmt::format_string<Args...> format, Args&&... args) {
  throw BadInput(fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Failure(fmt::format(format, std::forward<Args>(args)...));
}

/// Guards a rule that only a programming error can break; always on, in every build.
template <class... Args>
void require(bool holds, fmt::format_string<Args...> format, Args&&... args) {
  if (!holds) throw std::logic_error(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace zerolab
