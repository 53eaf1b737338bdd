#include "stages/device/cpu/event_words.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "stages/device/cpu/spin.h"

namespace zerolab {
namespace {

constexpr std::uint32_t kSleeper = 1;

std::uint32_t generation_of(Ticket ticket, std::size_t slots) {
  return static_cast<std::uint32_t>(ticket / slots + 1);
}

void futex_sleep(std::atomic<std::uint32_t>& word, std::uint32_t while_it_is) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, while_it_is, nullptr, nullptr, 0);
}

void futex_wake_all(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

void EventWords::signal(Ticket ticket) noexcept {
  auto& word = words_[ticket % kSlots];
  const std::uint32_t before =
      word.exchange(generation_of(ticket, kSlots) << 1, std::memory_order_release);
  if ((before & kSleeper) != 0) futex_wake_all(word);
}

bool EventWords::happened(Ticket ticket) const noexcept {
  return words_[ticket % kSlots].load(std::memory_order_relaxed) >> 1 >=
         generation_of(ticket, kSlots);
}

void EventWords::wait(Ticket ticket) noexcept {
  auto& word = words_[ticket % kSlots];
  for (int turn = 0; turn < kSpinTurns && !happened(ticket); ++turn) pause_briefly();
  while (!happened(ticket)) {
    std::uint32_t seen = word.load(std::memory_order_relaxed);
    if (seen >> 1 >= generation_of(ticket, kSlots)) break;
    // Relaxed: the sleeper's mark must not order the signalling worker after the sleeper.
    if ((seen & kSleeper) == 0 &&
        !word.compare_exchange_strong(seen, seen | kSleeper, std::memory_order_relaxed)) {
      continue;
    }
    futex_sleep(word, seen | kSleeper);
  }
  // The one edge that waiting creates: signalling worker to waiter.
  static_cast<void>(word.load(std::memory_order_acquire));
}

}  // namespace zerolab
