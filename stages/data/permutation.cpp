#include "stages/data/permutation.h"

#include <bit>

#include "stages/core/error.h"
#include "stages/core/philox.h"
#include "stages/data/random_streams.h"

namespace zerolab {

namespace {
// Four rounds are enough for a strong pseudo-random permutation (Luby and Rackoff 1988).
constexpr std::uint32_t kRounds = 4;
}  // namespace

Permutation::Permutation(std::int64_t size, std::uint64_t seed, std::uint32_t pass)
    : size_(static_cast<std::uint64_t>(size)), seed_(seed), pass_(pass) {
  require(size >= 1, "[data] a permutation of {} elements was asked for", size);
  const auto bits = static_cast<unsigned>(std::bit_width(size_ - 1));
  half_bits_ = (bits + 1) / 2;
}

std::int64_t Permutation::operator()(std::int64_t index) const {
  require(index >= 0 && static_cast<std::uint64_t>(index) < size_,
          "[data] index {} is outside a permutation of {}", index, size_);
  auto value = static_cast<std::uint64_t>(index);
  do {
    value = encrypt(value);
  } while (value >= size_);
  return static_cast<std::int64_t>(value);
}

std::uint64_t Permutation::encrypt(std::uint64_t value) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = value >> half_bits_;
  std::uint64_t right = value & mask;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    const auto bits = philox({static_cast<std::uint32_t>(right), round, pass_, kWindowOrderStream},
                             philox_key(seed_));
    const std::uint64_t next = left ^ (bits[0] & mask);
    left = right;
    right = next;
  }
  return left << half_bits_ | right;
}

}  // namespace zerolab
