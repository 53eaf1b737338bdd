/// \file
/// A reusable barrier that either all ranks pass or none.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace zerolab {

/// Asked now and then by a rank that sleeps in a wait.
class Patience {
 public:
  virtual ~Patience() = default;
  /// True to give up.
  virtual bool exhausted(const class Barrier& barrier) = 0;
};

/// Spins, yields, then sleeps. A rank that gives up poisons the barrier, which succeeds only while
/// the barrier is incomplete: so no rank can pass a barrier that another one has left early, and a
/// rank's memory is never read after it has gone.
class Barrier {
 public:
  /// 1 <= size < 4096
  explicit Barrier(int size);

  /// False when the barrier is poisoned, now and ever after.
  bool arrive_and_wait(int rank, Patience& patience);
  /// Ranks that the current round still waits for.
  std::vector<int> missing() const;

 private:
  struct alignas(64) Stamp {
    std::atomic<std::uint32_t> round{0};
  };

  // Round in bits 12–30, arrivals below, the poison on top: one word, so that completing and
  // poisoning exclude each other.
  static constexpr std::uint32_t kPoison = 1U << 31U;
  static constexpr std::uint32_t kCountMask = (1U << 12U) - 1;
  static std::uint32_t count_of(std::uint32_t state) { return state & kCountMask; }
  static std::uint32_t round_of(std::uint32_t state) { return (state & ~kPoison) >> 12U; }

  void wake();
  bool try_poison(std::uint32_t round);

  std::uint32_t size_;
  alignas(64) std::atomic<std::uint32_t> state_{0};
  alignas(64) std::atomic<std::uint32_t> sleepers_{0};
  std::unique_ptr<Stamp[]> stamps_;  // round + 1 of each rank's last arrival
};

}  // namespace zerolab
