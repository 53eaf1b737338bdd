// Collective calls between threads: barriers and peer reads. Messages are in thread_exchange.cpp.
#include "stages/comm/thread/thread_transport.h"

#include <algorithm>
#include <utility>

namespace zerolab {

ThreadTransport::ThreadTransport(std::shared_ptr<ThreadGroup> group, int rank,
                                 ThreadTransportSettings settings,
                                 std::shared_ptr<std::atomic<bool>> giving_up)
    : group_(std::move(group)),
      rank_(rank),
      settings_(settings),
      giving_up_(std::move(giving_up)),
      read_from_(static_cast<std::size_t>(group_->size())) {
  take_bytes();
}

ThreadTransport::~ThreadTransport() {
  if (!*giving_up_) mine().left = true;
}

void ThreadTransport::begin_call(const CallHeader& header) {
  header_ = header;
  mine().calls.fetch_add(1, std::memory_order_relaxed);
  mine().in_call.store(true, std::memory_order_relaxed);
}

void ThreadTransport::open(const CallHeader& header, std::span<const std::byte> shared) {
  begin_call(header);
  mine().header = &header_;
  mine().shared = shared;
  enter();
  if (!settings_.checked) return;

  std::vector<const CallHeader*> headers;
  for (int peer = 0; peer < world_size(); ++peer) {
    headers.push_back(group_->place(peer).header);
    if (peer == rank_) continue;
    bytes_.sent_to[static_cast<std::size_t>(peer)] += kCallHeaderBytes;
    bytes_.received_from[static_cast<std::size_t>(peer)] += kCallHeaderBytes;
  }
  try {
    compare_call_headers(headers, world_ranks());
  } catch (...) {
    close();  // the others are still reading this rank's header
    throw;
  }
}

void ThreadTransport::close() noexcept {
  for (int peer = 0; peer < world_size(); ++peer) {
    auto& read = read_from_[static_cast<std::size_t>(peer)];
    if (read == 0) continue;
    group_->place(peer).read_by[static_cast<std::size_t>(rank_)] = read;
    bytes_.received_from[static_cast<std::size_t>(peer)] += std::exchange(read, 0);
  }
  struct Forever final : Patience {
    bool exhausted(const Barrier&) override { return false; }
  } forever;
  group_->leave.arrive_and_wait(rank_, forever);
  for (int peer = 0; peer < world_size(); ++peer) {
    bytes_.sent_to[static_cast<std::size_t>(peer)] +=
        std::exchange(mine().read_by[static_cast<std::size_t>(peer)], 0);
  }
  mine().in_call.store(false, std::memory_order_relaxed);
}

const std::byte* ThreadTransport::peer_bytes(int peer, std::int64_t begin, std::int64_t size) {
  const auto shared = group_->place(peer).shared;
  require(begin >= 0 && begin + size <= static_cast<std::int64_t>(shared.size()),
          "[comm] bytes [{}, {}) are outside the {} bytes that rank {} shares", begin, begin + size,
          shared.size(), peer);
  read_from_[static_cast<std::size_t>(peer)] += size;
  return shared.data() + begin;
}

void ThreadTransport::meet() { enter(); }

void ThreadTransport::enter() {
  waiting_since_ = std::chrono::steady_clock::now();
  complaint_.reset();
  if (!group_->enter.arrive_and_wait(rank_, *this)) stop();
}

bool ThreadTransport::exhausted(const Barrier& barrier) { return should_stop(barrier.missing()); }

bool ThreadTransport::should_stop(const std::vector<int>& missing) {
  if (*giving_up_ || group_->abort->raised()) return true;
  if (missing.empty()) return false;  // the last one is arriving at this moment
  const auto left = [this](int rank) { return group_->place(rank).left.load(); };
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - waiting_since_;
  const bool late = settings_.timeout_seconds > 0 && waited.count() > settings_.timeout_seconds;
  if (!late && std::none_of(missing.begin(), missing.end(), left)) return false;
  complaint_ = complaint_about(missing);
  return true;
}

Failure ThreadTransport::complaint_about(const std::vector<int>& missing) const {
  std::vector<int> waiting;
  std::vector<int> absent;
  std::string last_seen;
  for (int rank = 0; rank < world_size(); ++rank) {
    const int world_rank = world_ranks()[static_cast<std::size_t>(rank)];
    if (std::find(missing.begin(), missing.end(), rank) == missing.end()) {
      waiting.push_back(world_rank);
      continue;
    }
    absent.push_back(world_rank);
    const Place& place = group_->place(rank);
    last_seen += fmt::format("{}rank {} has made {} calls and {}", last_seen.empty() ? "" : ", ",
                             world_rank, place.calls.load(),
                             place.left      ? "ended its part"
                             : place.in_call ? "is still in the last one"
                                             : "is in none now");
  }
  const bool late = std::none_of(missing.begin(), missing.end(),
                                 [this](int rank) { return group_->place(rank).left.load(); });
  const std::string message = fmt::format(
      "[comm] {} did not arrive{} at {}, call {} of the group, where {} wait{} ({}); every rank of "
      "a "
      "group must make the same calls in the same order",
      list_ranks(absent), late ? fmt::format(" within {} s", settings_.timeout_seconds) : "",
      describe(header_), group_->place(rank_).calls.load(), list_ranks(waiting),
      waiting.size() == 1 ? "s" : "", last_seen);
  return Failure(message, absent.front());
}

void ThreadTransport::stop() {
  if (complaint_ && group_->abort->raise(*complaint_)) throw Failure(*complaint_);
  if (*giving_up_) throw Aborted("[comm] this rank has failed elsewhere");
  group_->abort->throw_aborted();
}

void ThreadTransport::give_up() noexcept { *giving_up_ = true; }

std::unique_ptr<Transport> ThreadTransport::split(int color, int key) {
  struct Choice {
    int color, key;
  };
  const Choice choice{color, key};
  const OpenCall call(*this,
                      make_call_header(-1, CollectiveOp::kBarrier, DType::kByte, 0, -1,
                                       CallTag{"split", Traffic::kChecks, ""}),
                      std::as_bytes(std::span(&choice, 1)));
  std::vector<std::pair<int, int>> members;  // (key, rank)
  for (int peer = 0; peer < world_size(); ++peer) {
    const auto& theirs = *reinterpret_cast<const Choice*>(shared_by(peer).data());
    if (theirs.color == color) members.emplace_back(theirs.key, peer);
  }
  std::sort(members.begin(), members.end());
  const int leader = members.front().second;
  if (leader == rank_) {
    std::vector<int> ranks;
    for (const auto& member : members) {
      ranks.push_back(world_ranks()[static_cast<std::size_t>(member.second)]);
    }
    mine().split_group = std::make_shared<ThreadGroup>(std::move(ranks), group_->abort);
  }
  meet();
  const auto me = std::find(members.begin(), members.end(), std::pair{key, rank_});
  auto part = std::make_unique<ThreadTransport>(group_->place(leader).split_group,
                                                static_cast<int>(me - members.begin()), settings_,
                                                giving_up_);
  take_bytes();  // setting up is not traffic
  return part;
}

PeerBytes ThreadTransport::take_bytes() {
  const auto size = static_cast<std::size_t>(world_size());
  return std::exchange(bytes_, {std::vector<std::int64_t>(size), std::vector<std::int64_t>(size)});
}

void ThreadTransport::native_all_reduce(View) {
  bad_input("[comm] reduction native needs a message library; use --comm mpi or another reduction");
}
void ThreadTransport::native_reduce_scatter(View, View) { native_all_reduce({}); }
void ThreadTransport::native_all_gather(View) { native_all_reduce({}); }

}  // namespace zerolab
