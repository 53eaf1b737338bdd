/// \file
/// Who touched which bytes last: the memory of the order checker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stages/device/vector_clock.h"

namespace zerolab {

/// One operation's access to one range of memory, at one moment of its stream's clock.
struct Access {
  const char* operation = "";
  std::string detail;
  std::string stream;
  std::string buffer;      ///< the name of the allocation at that time
  std::size_t slot = 0;    ///< the stream's place in vector clocks
  std::uint64_t time = 0;  ///< the stream's own count at the access
  bool writes = false;
};
using AccessPtr = std::shared_ptr<const Access>;

/// A half-open range of addresses.
struct Bytes {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
};

/// An earlier access that conflicts with a new one and is not ordered before it.
struct Conflict {
  AccessPtr earlier;
  Bytes where;
};

/// Keeps, for every byte, the last write and the last read of each stream since. That is enough:
/// an access ordered after the last write is ordered after all that this write was ordered after,
/// so the history stays as small as the number of distinct ranges in use.
class AccessHistory {
 public:
  /// Adds the access; `clock` is what its stream has seen at that moment. Adjacent conflicts with
  /// the same earlier access come back as one.
  std::vector<Conflict> add(Bytes where, const AccessPtr& access, const VectorClock& clock);

  /// Ranges kept, for tests of the pruning.
  std::size_t size() const { return pieces_.size(); }

 private:
  struct Piece {
    const std::byte* end = nullptr;
    AccessPtr write;
    std::vector<AccessPtr> reads;  // at most one per stream
  };
  using Pieces = std::map<const std::byte*, Piece>;

  void split_at(const std::byte* address);
  void note_read(Bytes where, const AccessPtr& access);

  Pieces pieces_;  // by begin
};

}  // namespace zerolab
