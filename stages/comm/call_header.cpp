#include "stages/comm/call_header.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "stages/core/error.h"

namespace zerolab {
namespace {

void copy_cut(std::string_view text, std::array<char, 48>& to) {
  std::memcpy(to.data(), text.data(), std::min(text.size(), to.size() - 1));
}

// FNV-1a; a zero byte ends each text so that "ab","c" and "a","bc" differ.
std::uint64_t hash(std::string_view text, std::uint64_t state) {
  for (const char c : text) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return state * 0x100000001b3ULL;
}

}  // namespace

CallHeader make_call_header(std::int64_t sequence, CollectiveOp op, DType dtype, std::int64_t count,
                            int root, const CallTag& tag) {
  CallHeader header;
  header.sequence = sequence;
  header.op = op;
  header.dtype = dtype;
  header.count = count;
  header.root = root;
  header.traffic = tag.traffic;
  header.text_hash = hash(tag.detail, hash(tag.what, 0xcbf29ce484222325ULL));
  copy_cut(tag.what, header.what);
  copy_cut(tag.detail, header.detail);
  return header;
}

std::string describe(const CallHeader& header) {
  std::string text{name_of(header.op)};
  if (header.op != CollectiveOp::kBarrier) {
    text += fmt::format(" of {} {}", header.count, name_of(header.dtype));
  }
  if (header.op == CollectiveOp::kBroadcast) text += fmt::format(" from rank {}", header.root);
  if (header.op == CollectiveOp::kSend) text += fmt::format(" to rank {}", header.root);
  if (header.op == CollectiveOp::kRecv) text += fmt::format(" from rank {}", header.root);
  text += fmt::format(" (\"{}\"", header.what.data());
  if (header.detail[0] != '\0') text += fmt::format(", {}", header.detail.data());
  return text + ")";
}

void compare_call_headers(std::span<const CallHeader* const> headers,
                          std::span<const int> world_ranks) {
  const CallHeader& first = *headers[0];
  const bool all_equal =
      std::all_of(headers.begin(), headers.end(), [&](const auto* h) { return *h == first; });
  if (all_equal) return;

  std::string calls;
  std::size_t smallest = headers.size();
  int odd_rank = -1;
  std::vector<bool> told(headers.size(), false);
  for (std::size_t i = 0; i < headers.size(); ++i) {
    if (told[i]) continue;
    std::vector<int> same;
    for (std::size_t j = i; j < headers.size(); ++j) {
      if (*headers[j] != *headers[i]) continue;
      same.push_back(world_ranks[j]);
      told[j] = true;
    }
    if (same.size() <= smallest) {
      smallest = same.size();
      odd_rank = same.front();
    }
    calls +=
        fmt::format("{}{} made {}", i == 0 ? "" : "; ", list_ranks(same), describe(*headers[i]));
  }
  throw Failure(
      fmt::format("[comm] the ranks disagree on collective {}: {}; every rank of a group must make "
                  "the same calls in the same order",
                  first.sequence, calls),
      odd_rank);
}

std::string list_ranks(std::span<const int> ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0) text += i + 1 == ranks.size() ? " and " : ", ";
    text += std::to_string(ranks[i]);
  }
  return text;
}

}  // namespace zerolab
