/// \file
/// Messages longer than a transport's limit, cut into several.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace zerolab {

/// Appends the message in pieces of at most `limit` bytes, in order; nothing for an empty one.
/// Both sides cut alike, so the pieces match.
template <class Message>
void append_cut(const Message& message, std::int64_t limit, std::vector<Message>& pieces) {
  const auto step = static_cast<std::size_t>(limit);
  for (std::size_t first = 0; first < message.data.size(); first += step) {
    pieces.push_back(
        {message.peer, message.data.subspan(first, std::min(step, message.data.size() - first))});
  }
}

}  // namespace zerolab
