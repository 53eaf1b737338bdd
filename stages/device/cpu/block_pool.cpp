#include "stages/device/cpu/block_pool.h"

#include <bit>
#include <iterator>
#include <utility>

#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr std::int64_t kAlignment = 64;
constexpr std::int64_t kLargestSmall = 32 << 10;
constexpr std::int64_t kSlab = 256 << 10;

/// Eight classes per power of two, so at most an eighth is wasted.
std::int64_t small_class(std::int64_t bytes) {
  const auto octave = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bytes)));
  return round_up(bytes, octave / 8 > kAlignment ? octave / 8 : kAlignment);
}

}  // namespace

std::int64_t BlockPool::capacity_for(std::int64_t bytes) const {
  if (separate_pages_ || bytes > kLargestSmall) return round_up(bytes, page_bytes());
  return small_class(bytes);
}

Block& BlockPool::take(std::int64_t bytes) {
  const std::int64_t capacity = capacity_for(bytes);
  const std::int64_t largest =
      bytes > kLargestSmall && !separate_pages_ ? capacity + capacity / 8 : capacity;
  const auto fits = free_.lower_bound(capacity);
  Block block;
  if (fits != free_.end() && fits->first <= largest) {
    // The last of its size is the one freed last: its bytes may still be in the cache.
    const auto latest = std::prev(free_.upper_bound(fits->first));
    block = std::move(latest->second);
    free_.erase(latest);
  } else {
    block = create(capacity);
  }
  block.bytes = bytes;
  if (separate_pages_) {
    // An overrun should hit the page behind, as far as alignment lets the end move there.
    const auto base = reinterpret_cast<std::uintptr_t>(block.data);
    block.data -= base % static_cast<std::uintptr_t>(page_bytes());
    block.data += block.capacity - round_up(bytes, kAlignment);
  }
  const std::byte* key = block.data;
  return used_.emplace(key, std::move(block)).first->second;
}

void BlockPool::give_back(const std::byte* data, std::vector<Event> busy_until) {
  auto node = used_.extract(data);
  require(!node.empty(), "[device] a block was given back that this pool does not hold");
  Block block = std::move(node.mapped());
  block.busy_until = std::move(busy_until);
  block.users = {};
  free_.emplace(block.capacity, std::move(block));
}

Block* BlockPool::find(const std::byte* address) {
  auto after = used_.upper_bound(address);
  if (after == used_.begin()) return nullptr;
  Block& block = std::prev(after)->second;
  return address < block.data + block.bytes ? &block : nullptr;
}

Block BlockPool::create(std::int64_t capacity) {
  Block block;
  block.capacity = capacity;
  if (separate_pages_) {
    block.data = map(capacity + page_bytes()).data();
  } else if (capacity > kLargestSmall) {
    block.data = map(capacity).data();
  } else {
    if (slab_left_ < capacity) {
      slab_ = map(kSlab).data();
      slab_left_ = kSlab;
    }
    block.data = slab_;
    slab_ += capacity;
    slab_left_ -= capacity;
  }
  return block;
}

Pages& BlockPool::map(std::int64_t bytes) {
  pages_.emplace_back(bytes);
  reserved_ += pages_.back().bytes();
  return pages_.back();
}

}  // namespace zerolab
