/// \file
/// What a collective algorithm needs from the wire: batched point-to-point messages and, where the
/// ranks share an address space, a look into a peer's buffer.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stages/comm/call_header.h"
#include "stages/core/view.h"

namespace zerolab {

inline std::span<std::byte> bytes_of(View view) {
  return {view.data, static_cast<std::size_t>(view.bytes())};
}

struct Outgoing {
  int peer;
  std::span<const std::byte> data;
};
struct Incoming {
  int peer;
  std::span<std::byte> data;
};

/// Payload bytes that moved between this rank and each member of the group.
struct PeerBytes {
  std::vector<std::int64_t> sent_to, received_from;
};

/// Messages and peer reads within a group. Blocking; called from the communication worker only.
///
/// A collective call is bracketed by `open` and `close`; a send or receive is announced by
/// `open_pair`. Every blocking wait returns with `Aborted` soon after `abort` was called on any
/// rank, and ends the world with a message that names the missing ranks after the watchdog's time.
class Transport {
 public:
  virtual ~Transport() = default;
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  virtual int rank() const = 0;
  virtual int world_size() const = 0;
  /// The members' ranks in the world, by rank in this group.
  virtual const std::vector<int>& world_ranks() const = 0;

  /// Begins a collective call. In checked mode compares the headers of all ranks. Where memory is
  /// shared, `mine` is readable by the peers until `close`, and all ranks have opened on return.
  /// \throws Failure naming ranks and calls when the headers differ.
  virtual void open(const CallHeader& header, std::span<const std::byte> mine) = 0;
  /// Ends what a successful `open` began. Where memory is shared, nobody reads `mine` on return.
  virtual void close() noexcept = 0;
  /// Begins a send to or a receive from `header.root`; in checked mode the sender's header travels
  /// ahead. \throws Failure when the receiver's call does not match.
  virtual void open_pair(const CallHeader& header) = 0;

  /// Posts all receives, then all sends; returns when all have completed. Messages between two
  /// ranks match in posting order. A message to oneself is a copy and is not booked; an empty
  /// message is not sent.
  virtual void exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives) = 0;

  /// Returns when all ranks of the open call have come here.
  virtual void meet() = 0;

  /// Whether `peer_bytes` works (ranks share an address space).
  virtual bool shares_memory() const = 0;
  /// `size` bytes from `begin` of what the peer gave to `open`, about to be read once by this rank.
  virtual const std::byte* peer_bytes(int peer, std::int64_t begin, std::int64_t size) = 0;

  /// The library's own collectives for `Reduction::kNative`; false where there are none.
  virtual bool has_native() const = 0;
  virtual void native_all_reduce(View in_out) = 0;
  virtual void native_reduce_scatter(View input, View output) = 0;
  virtual void native_all_gather(View output) = 0;  ///< own slice in its place

  /// The group of the ranks with the same color, ordered by (key, rank). Collective.
  virtual std::unique_ptr<Transport> split(int color, int key) = 0;

  /// What has been booked since the last call.
  virtual PeerBytes take_bytes() = 0;

  /// Takes all ranks down with one message. Callable from any thread; the first error wins.
  virtual void abort(const std::exception& error) = 0;
  /// This rank is unwinding an exception: its own waits end now, the message follows by `abort`.
  virtual void give_up() noexcept = 0;
};

/// What `open_pair` does in checked mode on any transport: the sender's header goes ahead of the
/// data. \throws Failure when it does not match the receiver's.
void exchange_pair_header(Transport& transport, const CallHeader& header);

/// An open collective call; closed when it goes out of scope, also by an exception.
class OpenCall {
 public:
  OpenCall(Transport& transport, const CallHeader& header, std::span<const std::byte> mine)
      : transport_(transport) {
    transport_.open(header, mine);
  }
  ~OpenCall() { transport_.close(); }
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;

 private:
  Transport& transport_;
};

}  // namespace zerolab
