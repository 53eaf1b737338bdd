/// \file
/// Sleeping on a word of memory. `std::atomic::wait` will not do: its shared waiter table orders
/// unrelated threads, and ThreadSanitizer then misses forgotten waits.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace zerolab {

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

}  // namespace zerolab
