/// \file
/// The flags behind a stream's events: what a worker sets and others wait for.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace zerolab {

/// A point in one stream's order, counted from 1.
using Ticket = std::uint64_t;

/// One stream's event flags. Only the stream's worker signals, with rising tickets.
///
/// Each event has a word of its own, so that waiting for one event orders the waiter after exactly
/// that event; one counter per stream would order it after whatever has happened by then, and hide
/// forgotten waits from ThreadSanitizer. Words are used again after `kSlots` tickets, told apart by
/// their generation, so nothing is allocated and nothing must be given back by a worker.
///
/// Waiting uses the futex system call itself: the waiter pool behind std::atomic::wait would order
/// threads that the program did not.
class EventWords {
 public:
  void signal(Ticket ticket) noexcept;
  /// Blocks until the ticket has been signalled; spins only briefly, since ranks share cores.
  void wait(Ticket ticket) noexcept;
  /// Orders nothing.
  bool happened(Ticket ticket) const noexcept;

 private:
  // A word is generation << 1 | "somebody sleeps here". The generation rises with every reuse.
  static constexpr std::size_t kSlots = 1024;
  std::array<std::atomic<std::uint32_t>, kSlots> words_{};
};

}  // namespace zerolab
