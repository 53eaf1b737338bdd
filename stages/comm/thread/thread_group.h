/// \file
/// What the threads of one group share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stages/comm/abort_state.h"
#include "stages/comm/call_header.h"
#include "stages/comm/thread/barrier.h"
#include "stages/comm/thread/mailbox.h"

namespace zerolab {

/// One rank's corner of the group. Between `open` and `close` the others may read the plain
/// members; the barriers order these accesses.
struct alignas(64) Place {
  const CallHeader* header = nullptr;
  std::span<const std::byte> shared;
  std::vector<std::int64_t> read_by;  ///< bytes that each peer has read of `shared`
  std::shared_ptr<class ThreadGroup> split_group;

  std::atomic<std::int64_t> calls{0};  ///< made so far; for messages only
  std::atomic<bool> in_call{false};
  std::atomic<bool> left{false};  ///< the rank has ended its part in good order

  Mailbox mailbox;
};

/// Shared by the transports of a group's ranks.
class ThreadGroup {
 public:
  ThreadGroup(std::vector<int> world_ranks_of_members, std::shared_ptr<AbortState> abort_state);

  int size() const { return static_cast<int>(world_ranks.size()); }
  Place& place(int rank) { return places_[static_cast<std::size_t>(rank)]; }

  const std::vector<int> world_ranks;
  const std::shared_ptr<AbortState> abort;
  Barrier enter;  ///< `open` and `meet`
  Barrier leave;  ///< `close`: never given up, since everybody inside is about to come

 private:
  std::unique_ptr<Place[]> places_;
};

}  // namespace zerolab
