/// \file
/// A pseudo-random permutation of [0, size) that is computed, not stored.
#pragma once

#include <cstdint>

namespace zerolab {

/// A Feistel network over the next power of four, walked until it lands inside the range (Black and
/// Rogaway 2002, "cycle walking"), with Philox as the round function. Element i costs no memory and
/// does not depend on who asks for it.
class Permutation {
 public:
  /// `size` >= 1; another `pass` gives another order.
  Permutation(std::int64_t size, std::uint64_t seed, std::uint32_t pass);

  /// Where index in [0, size) goes.
  std::int64_t operator()(std::int64_t index) const;

 private:
  std::uint64_t encrypt(std::uint64_t value) const;

  std::uint64_t size_;
  std::uint64_t seed_;
  std::uint32_t pass_;
  unsigned half_bits_;
};

}  // namespace zerolab
