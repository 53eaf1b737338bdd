#include "stages/comm/abort_state.h"

#include <chrono>
#include <thread>

namespace zerolab {

bool AbortState::raise(const std::exception& error) {
  const std::scoped_lock lock(mutex_);
  if (raised_.load(std::memory_order_relaxed)) return false;
  const auto* failure = dynamic_cast<const Failure*>(&error);
  error_ = Failure(error.what(), failure ? failure->odd_rank() : -1);
  raised_.store(true, std::memory_order_release);
  return true;
}

Failure AbortState::error() const {
  const std::scoped_lock lock(mutex_);
  return error_;
}

void AbortState::throw_aborted() const {
  using namespace std::chrono_literals;
  for (int i = 0; i < 2000 && !raised(); ++i) std::this_thread::sleep_for(1ms);
  if (!raised()) throw Aborted("[comm] another rank failed");
  throw Aborted(error().what(), error().odd_rank());
}

}  // namespace zerolab
