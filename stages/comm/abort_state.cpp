#include "stages/comm/abort_state.h"

#include <chrono>
#include <thread>

#include "stages/core/error.h"

namespace zerolab {

bool AbortState::raise(const std::string& message) {
  const std::scoped_lock lock(mutex_);
  if (raised_.load(std::memory_order_relaxed)) return false;
  message_ = message;
  raised_.store(true, std::memory_order_release);
  return true;
}

std::string AbortState::message() const {
  const std::scoped_lock lock(mutex_);
  return message_;
}

void AbortState::throw_aborted() const {
  using namespace std::chrono_literals;
  for (int i = 0; i < 2000 && !raised(); ++i) std::this_thread::sleep_for(1ms);
  throw Aborted(raised() ? message() : "[comm] another rank failed");
}

}  // namespace zerolab
