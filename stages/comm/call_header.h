/// \file
/// What ranks compare before a call in checked mode, and what a watchdog shows.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "stages/comm/comm_ledger.h"
#include "stages/comm/communicator.h"

namespace zerolab {

/// One call as it travels to the other ranks: fixed size, no pointers. Texts that do not fit are
/// cut on the wire; `text_hash` still tells them apart.
struct CallHeader {
  std::int64_t sequence = 0;  ///< counts the collective calls of the group
  std::int64_t count = 0;     ///< elements of the full array
  std::uint64_t text_hash = 0;
  std::int32_t root = -1;  ///< of a broadcast; the peer of a send or receive
  CollectiveOp op{};
  DType dtype{};
  Traffic traffic{};
  std::uint8_t padding = 0;
  std::array<char, 48> what{};
  std::array<char, 48> detail{};

  bool operator==(const CallHeader&) const = default;
};
static_assert(std::is_trivially_copyable_v<CallHeader>);
static_assert(sizeof(CallHeader) == 128, "prediction and wire count on it");
inline constexpr std::int64_t kCallHeaderBytes = sizeof(CallHeader);

CallHeader make_call_header(std::int64_t sequence, CollectiveOp op, DType dtype, std::int64_t count,
                            int root, const CallTag& tag);

/// "reduce_scatter of 1024 fp32 (\"reduce-scatter gradients\", bucket 3)"
std::string describe(const CallHeader& header);

/// \throws Failure naming ranks and calls, unless all headers are equal; the odd rank is the first
/// of the smallest group, of the later one where two are equally small. `headers[i]` came from
/// member i of the group, whose rank in the world is `world_ranks[i]`.
void compare_call_headers(std::span<const CallHeader* const> headers,
                          std::span<const int> world_ranks);

/// "rank 2", "ranks 0, 1 and 3".
std::string list_ranks(std::span<const int> ranks);

}  // namespace zerolab
