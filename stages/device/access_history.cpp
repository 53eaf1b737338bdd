#include "stages/device/access_history.h"

#include <algorithm>
#include <iterator>

namespace zerolab {
namespace {

void add_conflict(std::vector<Conflict>& conflicts, const AccessPtr& earlier, Bytes where) {
  for (Conflict& known : conflicts) {
    if (known.earlier == earlier && known.where.end == where.begin) {
      known.where.end = where.end;
      return;
    }
  }
  conflicts.push_back({earlier, where});
}

bool is_unordered(const AccessPtr& earlier, const Access& later, const VectorClock& clock) {
  return earlier && earlier->slot != later.slot && clock[earlier->slot] < earlier->time;
}

}  // namespace

std::vector<Conflict> AccessHistory::add(Bytes where, const AccessPtr& access,
                                         const VectorClock& clock) {
  split_at(where.begin);
  split_at(where.end);
  std::vector<Conflict> conflicts;
  const auto first = pieces_.lower_bound(where.begin);
  const auto last = pieces_.lower_bound(where.end);
  for (auto piece = first; piece != last; ++piece) {
    const Bytes overlap{piece->first, piece->second.end};
    if (is_unordered(piece->second.write, *access, clock)) {
      add_conflict(conflicts, piece->second.write, overlap);
    }
    if (!access->writes) continue;
    for (const AccessPtr& read : piece->second.reads) {
      if (is_unordered(read, *access, clock)) add_conflict(conflicts, read, overlap);
    }
  }
  if (access->writes) {
    pieces_.erase(first, last);
    pieces_[where.begin] = {where.end, access, {}};
  } else {
    note_read(where, access);
  }
  return conflicts;
}

void AccessHistory::split_at(const std::byte* address) {
  auto after = pieces_.upper_bound(address);
  if (after == pieces_.begin()) return;
  auto piece = std::prev(after);
  if (piece->first == address || piece->second.end <= address) return;
  Piece tail = piece->second;
  piece->second.end = address;
  pieces_.emplace_hint(after, address, std::move(tail));
}

void AccessHistory::note_read(Bytes where, const AccessPtr& access) {
  const std::byte* position = where.begin;
  auto piece = pieces_.lower_bound(where.begin);
  while (position < where.end) {
    if (piece == pieces_.end() || piece->first > position) {
      // Bytes that nobody has touched so far.
      const std::byte* gap_end =
          piece == pieces_.end() ? where.end : std::min(where.end, piece->first);
      piece = pieces_.emplace_hint(piece, position, Piece{gap_end, nullptr, {}});
    }
    auto& reads = piece->second.reads;
    std::erase_if(reads, [&](const AccessPtr& read) { return read->slot == access->slot; });
    reads.push_back(access);
    position = piece->second.end;
    ++piece;
  }
}

}  // namespace zerolab
