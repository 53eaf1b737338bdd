/// \file
/// The first exception that stream work threw, on its way from a worker to the host.
#pragma once

#include <atomic>
#include <exception>

namespace zerolab {

/// Workers keep, the host rethrows. As long as nothing failed, looking orders nothing.
class FirstFailure {
 public:
  /// Any worker; later failures are dropped.
  void keep(std::exception_ptr failure) noexcept {
    int expected = kNone;
    if (!state_.compare_exchange_strong(expected, kBeingKept, std::memory_order_relaxed)) return;
    failure_ = std::move(failure);
    state_.store(kKept, std::memory_order_release);
  }

  /// Host only. \throws the kept exception, every time.
  void rethrow_if_any() const {
    if (state_.load(std::memory_order_relaxed) == kNone) return;
    while (state_.load(std::memory_order_acquire) != kKept) {
    }
    std::rethrow_exception(failure_);
  }

 private:
  enum : int { kNone, kBeingKept, kKept };
  std::atomic<int> state_{kNone};
  std::exception_ptr failure_;
};

}  // namespace zerolab
