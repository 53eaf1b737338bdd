/// \file
/// The process's SIGSEGV handler while guarded devices live.
#pragma once

namespace zerolab {

class Guard;

/// Installs the handler with the first guard of the process and removes it with the last; several
/// ranks may be threads of one process. A fault in guarded memory prints the guard's sentence and
/// ends the process with exit code 3; every other fault goes where it went before.
class ViolationHandler {
 public:
  explicit ViolationHandler(const Guard& guard);
  ~ViolationHandler();
  ViolationHandler(const ViolationHandler&) = delete;
  ViolationHandler& operator=(const ViolationHandler&) = delete;

 private:
  const Guard& guard_;
};

}  // namespace zerolab
