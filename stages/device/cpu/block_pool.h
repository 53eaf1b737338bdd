/// \file
/// Blocks of host memory, kept for reuse when freed.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "stages/core/view.h"
#include "stages/device/cpu/pages.h"
#include "stages/device/stream.h"

namespace zerolab {

/// Streams by id, `kOwnStreamId` included.
class StreamSet {
 public:
  void insert(int stream_id) { bits_ |= std::uint64_t{1} << (stream_id + 1); }
  bool contains(int stream_id) const { return (bits_ >> (stream_id + 1) & 1) != 0; }

 private:
  std::uint64_t bits_ = 0;
};

/// A range of memory that is handed out as a whole.
struct Block {
  std::byte* data = nullptr;
  std::int64_t bytes = 0;         ///< in use, as asked
  std::int64_t capacity = 0;      ///< owned
  StreamSet users;                ///< streams with operations on it since it was handed out
  std::vector<Event> busy_until;  ///< while free: a new user's stream waits for these
};

/// Hands out 64-byte aligned blocks and keeps freed ones; memory returns to the system when the
/// pool is destroyed, so a step pays for page faults only once. What is reused follows from the
/// order of the host's calls alone, never from timing. Host thread only.
///
/// Small blocks come in classes of eight per power of two, cut from slabs. Large ones are mappings
/// of their own, in whole pages; a free one serves if it is at most an eighth larger than asked.
class BlockPool {
 public:
  /// `separate_pages`: every block gets pages of its own and ends where a page ends, with a page
  /// that is never handed out behind it (the guarded device).
  explicit BlockPool(bool separate_pages) : separate_pages_(separate_pages) {}

  /// The most recently freed block that fits, else a new one. Valid until given back.
  Block& take(std::int64_t bytes);
  /// The block handed out at `data` becomes reusable, after `busy_until`.
  void give_back(const std::byte* data, std::vector<Event> busy_until);
  /// The block in use that holds the address, or null.
  Block* find(const std::byte* address);
  std::int64_t reserved_bytes() const { return reserved_; }

 private:
  Block create(std::int64_t capacity);
  Pages& map(std::int64_t bytes);
  std::int64_t capacity_for(std::int64_t bytes) const;

  bool separate_pages_;
  std::int64_t reserved_ = 0;
  std::vector<Pages> pages_;
  std::byte* slab_ = nullptr;  // the rest of the current slab
  std::int64_t slab_left_ = 0;
  std::map<const std::byte*, Block> used_;
  std::multimap<std::int64_t, Block> free_;  // by capacity
};

}  // namespace zerolab
