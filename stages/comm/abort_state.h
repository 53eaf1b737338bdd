/// \file
/// The world's one reason to stop.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>

#include "stages/core/error.h"

namespace zerolab {

/// Raised once; every blocking wait of the world looks at it. Safe from any thread.
class AbortState {
 public:
  bool raised() const { return raised_.load(std::memory_order_acquire); }
  /// The first error wins; false for all others.
  bool raise(const std::exception& error);
  /// What was raised; an empty message before.
  Failure error() const;
  /// Waits a moment for the message where another rank is still unwinding.
  /// \throws Aborted
  [[noreturn]] void throw_aborted() const;

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> raised_{false};
  Failure error_{""};
};

}  // namespace zerolab
