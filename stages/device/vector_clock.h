/// \file
/// How far each stream has come, as seen from one place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace zerolab {

/// One counter per stream slot; a slot that was never set reads 0.
class VectorClock {
 public:
  std::uint64_t operator[](std::size_t slot) const {
    return slot < times_.size() ? times_[slot] : 0;
  }
  /// The slot's next moment.
  std::uint64_t tick(std::size_t slot) {
    if (slot >= times_.size()) times_.resize(slot + 1, 0);
    return ++times_[slot];
  }
  /// Afterwards everything that `other` has seen counts as seen.
  void join(const VectorClock& other) {
    if (other.times_.size() > times_.size()) times_.resize(other.times_.size(), 0);
    for (std::size_t i = 0; i < other.times_.size(); ++i) {
      times_[i] = std::max(times_[i], other.times_[i]);
    }
  }

 private:
  std::vector<std::uint64_t> times_;
};

}  // namespace zerolab
