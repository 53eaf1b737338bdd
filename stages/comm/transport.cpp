#include "stages/comm/transport.h"

#include "stages/core/error.h"

namespace zerolab {

void exchange_pair_header(Transport& transport, const CallHeader& header) {
  if (header.op == CollectiveOp::kSend) {
    const Outgoing send{header.root, std::as_bytes(std::span(&header, 1))};
    transport.exchange({&send, 1}, {});
    return;
  }
  CallHeader theirs;
  const Incoming receive{header.root, std::as_writable_bytes(std::span(&theirs, 1))};
  transport.exchange({}, {&receive, 1});
  if (theirs.op == CollectiveOp::kSend && theirs.dtype == header.dtype &&
      theirs.count == header.count) {
    return;
  }
  const auto& ranks = transport.world_ranks();
  fail(
      "[comm] rank {} made {}, but rank {} made {}; a send and its receive must have the same "
      "dtype "
      "and count",
      ranks[static_cast<std::size_t>(transport.rank())], describe(header),
      ranks[static_cast<std::size_t>(header.root)], describe(theirs));
}

}  // namespace zerolab
