/// \file
/// A program that runs beside this one and is talked to line by line.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zerolab {

/// Standard input and output of the child are the two directions of one connection; its standard
/// error goes nowhere. Ends with its object: first by the end of its input, then by force.
class ChildProcess {
 public:
  /// `environment`: variables added to this process's. \throws Failure when the program cannot be
  /// started.
  ChildProcess(const std::vector<std::string>& command,
               const std::vector<std::pair<std::string, std::string>>& environment);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  /// \throws Failure when the child has gone.
  void write_line(const std::string& line);
  /// The next line without its end; nothing when the child has closed its output.
  std::optional<std::string> read_line();
  /// Waits for the end. \returns the exit code, or 128 + the signal that ended it.
  int wait();

 private:
  void close_connection();

  std::string program_;
  pid_t pid_ = -1;
  int connection_ = -1;
  std::string received_;  // behind the last line that was read
};

}  // namespace zerolab
