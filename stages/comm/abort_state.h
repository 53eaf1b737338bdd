/// \file
/// The world's one abort message.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

namespace zerolab {

/// Raised once; every blocking wait of the world looks at it. Safe from any thread.
class AbortState {
 public:
  bool raised() const { return raised_.load(std::memory_order_acquire); }
  /// The first message wins; false for all others.
  bool raise(const std::string& message);
  /// "" before `raise`.
  std::string message() const;
  /// Waits a moment for the message where another rank is still unwinding.
  /// \throws Aborted
  [[noreturn]] void throw_aborted() const;

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> raised_{false};
  std::string message_;
};

}  // namespace zerolab
