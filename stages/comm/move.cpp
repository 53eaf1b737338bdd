// Collectives that only move bytes: all-gather, broadcast, all-to-all.
#include <cstring>
#include <vector>

#include "stages/comm/algorithms.h"

namespace zerolab {
namespace {

// Reads the same range of the peer's array into the view.
void copy_from_peer(Transport& transport, int peer, View array, View piece) {
  if (piece.empty()) return;
  const std::int64_t begin = piece.data - array.data;
  std::memcpy(piece.data, transport.peer_bytes(peer, begin, piece.bytes()),
              static_cast<std::size_t>(piece.bytes()));
}

// At step s piece rank−s comes from the left neighbour, which got it one step before.
void gather_along_ring(Transport& transport, View array) {
  const int size = transport.world_size();
  const int rank = transport.rank();
  const int left = (rank + size - 1) % size;
  const auto piece = [&](int index) {
    return array.slice(piece_of(array.count, size, ((index % size) + size) % size));
  };
  for (int step = 1; step < size; ++step) {
    if (transport.shares_memory()) {
      if (step > 1) transport.meet();
      copy_from_peer(transport, left, array, piece(rank - step));
    } else {
      const Outgoing send{(rank + 1) % size, bytes_of(piece(rank - step + 1))};
      const Incoming receive{left, bytes_of(piece(rank - step))};
      transport.exchange({&send, 1}, {&receive, 1});
    }
  }
}

}  // namespace

void gather_pieces(const Wire& wire, View array) {
  Transport& transport = wire.transport;
  if (wire.reduction == Reduction::kRing) return gather_along_ring(transport, array);

  const int size = transport.world_size();
  const int rank = transport.rank();
  const auto piece = [&](int owner) { return array.slice(piece_of(array.count, size, owner)); };
  std::vector<Outgoing> sends;
  std::vector<Incoming> receives;
  // Everybody starts at another peer, or all would read the same memory at once.
  for (int step = 1; step < size; ++step) {
    const int peer = (rank + step) % size;
    if (transport.shares_memory()) {
      copy_from_peer(transport, peer, array, piece(peer));
    } else {
      sends.push_back({peer, bytes_of(piece(rank))});
      receives.push_back({peer, bytes_of(piece(peer))});
    }
  }
  if (!transport.shares_memory()) transport.exchange(sends, receives);
}

void broadcast(Transport& transport, View array, int root) {
  const int size = transport.world_size();
  if (transport.shares_memory()) {
    if (transport.rank() != root) copy_from_peer(transport, root, array, array);
    return;
  }
  // Binomial tree over ranks counted from the root: the parent clears the lowest set bit.
  const int place = (transport.rank() - root + size) % size;
  const auto rank_at = [&](int other) { return (other + root) % size; };
  int lowest = 1;
  while (lowest < size && (place & lowest) == 0) lowest <<= 1;
  if (place != 0) {
    const Incoming receive{rank_at(place - lowest), bytes_of(array)};
    transport.exchange({}, {&receive, 1});
  }
  std::vector<Outgoing> sends;
  for (int distance = lowest >> 1; distance > 0; distance >>= 1) {
    if (place + distance < size) sends.push_back({rank_at(place + distance), bytes_of(array)});
  }
  transport.exchange(sends, {});
}

void all_to_all(Transport& transport, View array, View output) {
  const int size = transport.world_size();
  const int rank = transport.rank();
  const std::int64_t slice = array.count / size;
  std::vector<Outgoing> sends;
  std::vector<Incoming> receives;
  for (int step = 0; step < size; ++step) {
    const int peer = (rank + step) % size;
    const View to = output.slice(peer * slice, slice);
    if (to.empty()) return;
    if (peer == rank || !transport.shares_memory()) {
      sends.push_back({peer, bytes_of(array.slice(peer * slice, slice))});
      receives.push_back({peer, bytes_of(to)});
    } else {
      const std::int64_t begin = rank * to.bytes();
      std::memcpy(to.data, transport.peer_bytes(peer, begin, to.bytes()),
                  static_cast<std::size_t>(to.bytes()));
    }
  }
  transport.exchange(sends, receives);
}

}  // namespace zerolab
