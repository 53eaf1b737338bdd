/// \file
/// How a thread waits for another one: it spins, yields, then sleeps on a word of memory.
/// `std::atomic::wait` will not do: its shared waiter table orders unrelated threads, and
/// ThreadSanitizer then misses forgotten waits.
#pragma once

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace zerolab {

/// Nobody sleeps longer than this without a look at the abort flag and the watchdog.
inline constexpr auto kSleepSlice = std::chrono::milliseconds(20);

/// Sleeps while the word equals `seen`, for `limit` at most. May return early.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t seen,
                std::chrono::nanoseconds limit);
void futex_wake_all(const std::atomic<std::uint32_t>& word);

/// Tells the processor that this is a spinning loop.
inline void pause_spinning() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// The part of a wait that is worth staying awake for. Ranks usually outnumber cores, so it is
/// short: about 2 µs of spinning, then a few yields.
class Vigil {
 public:
  /// False when it is time to sleep.
  bool stay_awake() {
    if (round_ >= kSpins + kYields) return false;
    if (round_++ < kSpins) {
      pause_spinning();
    } else {
      sched_yield();
    }
    return true;
  }

 private:
  static constexpr int kSpins = 64;
  static constexpr int kYields = 16;
  int round_ = 0;
};

}  // namespace zerolab
