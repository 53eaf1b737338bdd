/// \file
/// What a collective algorithm needs from the wire: batched point-to-point messages and, where the
/// ranks share an address space, a look into a peer's buffer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stages/core/view.h"

namespace zerolab {

struct Outgoing {
  int peer;
  std::span<const std::byte> data;
};
struct Incoming {
  int peer;
  std::span<std::byte> data;
};

/// Point-to-point messages within a group. Blocking; called from the communication worker only.
/// Every blocking wait returns with `Aborted` soon after `abort` was called on any rank.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int world_size() const = 0;
  /// Posts all receives, then all sends; returns when all have completed. Messages between two
  /// ranks match in posting order. A message to oneself is a copy and is not booked.
  virtual void exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives) = 0;

  /// Whether `share` works (ranks share an address space).
  virtual bool shares_memory() const = 0;
  /// Every rank publishes a range and gets everybody's, in rank order. Collective. The ranges stay
  /// readable until the matching `unshare`, which returns when all ranks have called it.
  virtual std::vector<std::span<const std::byte>> share(std::span<const std::byte> mine) = 0;
  virtual void unshare() = 0;

  /// The library's own collectives for `Reduction::kNative`; false where there are none.
  virtual bool has_native() const = 0;
  virtual void native_all_reduce(View in_out) = 0;
  virtual void native_reduce_scatter(View input, View output) = 0;
  virtual void native_all_gather(View input, View output) = 0;

  virtual std::unique_ptr<Transport> split(int color, int key) = 0;

  /// Takes all ranks down with one message. Callable from any thread; the first message wins.
  virtual void abort(const std::string& message) = 0;
};

}  // namespace zerolab
