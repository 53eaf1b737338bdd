// Reductions to the owner of each piece: pairwise exchange (ordered, tree) and ring.
#include <algorithm>
#include <cstring>
#include <vector>

#include "stages/comm/algorithms.h"
#include "stages/comm/sum.h"

namespace zerolab {
namespace {

void add_terms(Reduction reduction, std::span<const std::byte* const> terms, View out) {
  if (reduction == Reduction::kTree) {
    sum_as_tree(out.dtype, terms, out.data, out.count);
  } else {
    sum_in_order(out.dtype, terms, out.data, out.count);
  }
}

// This rank's piece, read where the peers hold it.
void reduce_from_peers(const Wire& wire, View array, View out) {
  const int size = wire.transport.world_size();
  const int rank = wire.transport.rank();
  const View mine = array.slice(piece_of(array.count, size, rank));
  const std::int64_t begin = mine.data - array.data;
  std::vector<const std::byte*> terms(static_cast<std::size_t>(size));
  for (int peer = 0; peer < size; ++peer) {
    terms[static_cast<std::size_t>(peer)] =
        peer == rank ? mine.data : wire.transport.peer_bytes(peer, begin, mine.bytes());
  }
  add_terms(wire.reduction, terms, out);
}

// Segment by segment: my part of the peers' arrays comes in, their parts of mine go out.
void reduce_from_messages(const Wire& wire, View array, View out) {
  const int size = wire.transport.world_size();
  const int rank = wire.transport.rank();
  const std::int64_t segment = kSegmentBytes / static_cast<std::int64_t>(size_of(array.dtype));
  const Range mine = piece_of(array.count, size, rank);
  const std::int64_t longest = (array.count + size - 1) / size;

  std::vector<Outgoing> sends;
  std::vector<Incoming> receives;
  std::vector<const std::byte*> terms(static_cast<std::size_t>(size));
  for (std::int64_t first = 0; first < longest; first += segment) {
    const auto part = [&](Range piece) {
      const std::int64_t begin = std::min(piece.begin + first, piece.end);
      return array.slice(begin, std::min(segment, piece.end - begin));
    };
    const View own = part(mine);
    sends.clear();
    receives.clear();
    std::byte* slot = wire.staging.data();
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) {
        terms[static_cast<std::size_t>(peer)] = own.data;
        continue;
      }
      terms[static_cast<std::size_t>(peer)] = slot;
      receives.push_back({peer, {slot, static_cast<std::size_t>(own.bytes())}});
      sends.push_back({peer, bytes_of(part(piece_of(array.count, size, peer)))});
      slot += kSegmentBytes;
    }
    wire.transport.exchange(sends, receives);
    add_terms(wire.reduction, terms, out.slice(std::min(first, out.count), own.count));
  }
}

// At step s the partial sum of piece rank−1−s comes from the left neighbour.
void reduce_along_ring(const Wire& wire, View array, View out) {
  Transport& transport = wire.transport;
  const int size = transport.world_size();
  const int rank = transport.rank();
  const int left = (rank + size - 1) % size;
  const int right = (rank + 1) % size;
  const std::int64_t segment = kSegmentBytes / static_cast<std::int64_t>(size_of(array.dtype));
  const auto piece = [&](int index) {
    return array.slice(piece_of(array.count, size, ((index % size) + size) % size));
  };
  for (int step = 1; step < size; ++step) {
    const View own = piece(rank - 1 - step);
    const View sum = step + 1 == size ? out : own;
    if (transport.shares_memory()) {
      if (step > 1) transport.meet();
      const std::byte* partial = transport.peer_bytes(left, own.data - array.data, own.bytes());
      const std::byte* const terms[] = {partial, own.data};
      sum_in_order(own.dtype, terms, sum.data, own.count);
      continue;
    }
    const View outgoing = piece(rank - step);
    for (std::int64_t first = 0; first < std::max(own.count, outgoing.count); first += segment) {
      const auto part = [&](View view) {
        const std::int64_t begin = std::min(first, view.count);
        return view.slice(begin, std::min(segment, view.count - begin));
      };
      const View target = part(own);
      const Outgoing send{right, bytes_of(part(outgoing))};
      const Incoming receive{left, wire.staging.first(static_cast<std::size_t>(target.bytes()))};
      transport.exchange({&send, 1}, {&receive, 1});
      const std::byte* const terms[] = {wire.staging.data(), target.data};
      sum_in_order(target.dtype, terms, part(sum).data, target.count);
    }
  }
}

}  // namespace

void reduce_pieces(const Wire& wire, View array, View out) {
  if (wire.reduction == Reduction::kRing) {
    reduce_along_ring(wire, array, out);
  } else if (wire.transport.shares_memory()) {
    reduce_from_peers(wire, array, out);
  } else {
    reduce_from_messages(wire, array, out);
  }
}

void all_reduce(const Wire& wire, View array) {
  const Range mine = piece_of(array.count, wire.transport.world_size(), wire.transport.rank());
  reduce_pieces(wire, array, array.slice(mine));
  if (wire.transport.shares_memory()) wire.transport.meet();
  gather_pieces(wire, array);
}

}  // namespace zerolab
