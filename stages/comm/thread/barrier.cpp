#include "stages/comm/thread/barrier.h"

#include "stages/comm/thread/waiting.h"
#include "stages/core/error.h"

namespace zerolab {

Barrier::Barrier(int size)
    : size_(static_cast<std::uint32_t>(size)),
      stamps_(std::make_unique<Stamp[]>(static_cast<std::size_t>(size))) {
  require(size >= 1 && size < (1 << 12), "[comm] a barrier of {} ranks", size);
}

bool Barrier::arrive_and_wait(int rank, Patience& patience) {
  // The round cannot end before this rank arrives.
  const std::uint32_t round = round_of(state_.load(std::memory_order_relaxed));
  stamps_[static_cast<std::size_t>(rank)].round.store(round + 1, std::memory_order_relaxed);
  const std::uint32_t before = state_.fetch_add(1, std::memory_order_acq_rel);
  if ((before & kPoison) != 0) return false;
  if (count_of(before) + 1 == size_) {
    state_.store(((round + 1) << 12U) & ~kPoison, std::memory_order_seq_cst);
    wake();
    return true;
  }
  Vigil vigil;
  for (;;) {
    const std::uint32_t state = state_.load(std::memory_order_acquire);
    if (round_of(state) != round) return true;
    if ((state & kPoison) != 0) return false;
    if (vigil.stay_awake()) continue;
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    futex_wait(state_, state, kSleepSlice);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
    if (patience.exhausted(*this) && try_poison(round)) return false;
  }
}

bool Barrier::try_poison(std::uint32_t round) {
  std::uint32_t state = state_.load(std::memory_order_acquire);
  while (round_of(state) == round && count_of(state) < size_) {
    if ((state & kPoison) != 0) return true;
    if (state_.compare_exchange_weak(state, state | kPoison, std::memory_order_seq_cst)) {
      wake();
      return true;
    }
  }
  return false;
}

void Barrier::wake() {
  if (sleepers_.load(std::memory_order_seq_cst) > 0) futex_wake_all(state_);
}

std::vector<int> Barrier::missing() const {
  const std::uint32_t round = round_of(state_.load(std::memory_order_acquire));
  std::vector<int> ranks;
  for (std::uint32_t rank = 0; rank < size_; ++rank) {
    if (stamps_[rank].round.load(std::memory_order_relaxed) != round + 1) {
      ranks.push_back(static_cast<int>(rank));
    }
  }
  return ranks;
}

}  // namespace zerolab
