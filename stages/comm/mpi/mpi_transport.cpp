#include "stages/comm/mpi/mpi_transport.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>

#include "stages/comm/message_cut.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr int kDataTag = 0;

int as_count(std::size_t bytes) { return static_cast<int>(bytes); }

}  // namespace

MpiTransport::MpiTransport(MpiRun& run, MpiComm comm, std::int64_t group,
                           std::vector<int> world_ranks, MpiTransportSettings settings)
    : run_(run),
      comm_(std::move(comm)),
      group_(group),
      world_ranks_(std::move(world_ranks)),
      settings_(settings) {
  check_mpi(MPI_Comm_rank(comm_.get(), &rank_), "MPI_Comm_rank");
  take_bytes();
  run_.join(group_, &progress_);
}

MpiTransport::~MpiTransport() {
  run_.leave(group_);
  if (run_.broken()) comm_.abandon();
}

void MpiTransport::begin_call(const CallHeader& header) {
  header_ = header;
  progress_.calls.fetch_add(1);
  progress_.in_call = true;
}

void MpiTransport::open(const CallHeader& header, std::span<const std::byte> /*shared*/) {
  begin_call(header);
  if (!settings_.checked) return;
  const auto size = static_cast<std::size_t>(world_size());
  std::vector<CallHeader> headers(size);
  std::vector<const CallHeader*> pointers;
  std::vector<Outgoing> sends;
  std::vector<Incoming> receives;
  for (int peer = 0; peer < world_size(); ++peer) {
    auto& theirs = headers[static_cast<std::size_t>(peer)];
    theirs = header;
    pointers.push_back(&theirs);
    if (peer == rank_) continue;
    sends.push_back({peer, std::as_bytes(std::span(&header_, 1))});
    receives.push_back({peer, std::as_writable_bytes(std::span(&theirs, 1))});
  }
  exchange(sends, receives);
  compare_call_headers(pointers, world_ranks_);
}

void MpiTransport::open_pair(const CallHeader& header) {
  begin_call(header);
  if (settings_.checked) exchange_pair_header(*this, header);
}

void MpiTransport::exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives) {
  const std::int64_t limit = std::min<std::int64_t>(settings_.max_message_count, INT_MAX);
  std::vector<Outgoing> out;
  std::vector<Incoming> in;
  std::vector<std::span<const std::byte>> to_self;
  for (const Outgoing& send : sends) {
    if (send.peer == rank_) {
      to_self.push_back(send.data);
    } else {
      append_cut(send, limit, out);
    }
  }
  std::size_t own = 0;
  for (const Incoming& receive : receives) {
    if (receive.peer != rank_) {
      append_cut(receive, limit, in);
    } else if (!receive.data.empty()) {
      std::memcpy(receive.data.data(), to_self.at(own++).data(), receive.data.size());
    }
  }

  std::vector<MPI_Request> requests;
  requests.reserve(in.size() + out.size());
  for (const Incoming& receive : in) {
    requests.push_back(MPI_REQUEST_NULL);
    check_mpi(MPI_Irecv(receive.data.data(), as_count(receive.data.size()), MPI_BYTE, receive.peer,
                        kDataTag, comm_.get(), &requests.back()),
              "MPI_Irecv");
  }
  for (const Outgoing& send : out) {
    requests.push_back(MPI_REQUEST_NULL);
    check_mpi(MPI_Isend(send.data.data(), as_count(send.data.size()), MPI_BYTE, send.peer, kDataTag,
                        comm_.get(), &requests.back()),
              "MPI_Isend");
  }
  std::vector<MPI_Status> statuses(requests.size());
  try {
    wait_for(requests, statuses);
  } catch (...) {
    run_.withdraw(requests, in.size());
    throw;
  }
  for (std::size_t i = 0; i < in.size(); ++i) {
    int bytes = 0;
    check_mpi(MPI_Get_count(&statuses[i], MPI_BYTE, &bytes), "MPI_Get_count");
    if (bytes != as_count(in[i].data.size())) {
      fail(
          "[mpi] rank {} expected a message of {} bytes from rank {} in {}, but got {}; both must "
          "make the same calls",
          run_.rank(), in[i].data.size(), world_ranks_[static_cast<std::size_t>(in[i].peer)],
          describe(header_), bytes);
    }
    book(bytes_.received_from, in[i].peer, in[i].data.size());
  }
  for (const Outgoing& send : out) book(bytes_.sent_to, send.peer, send.data.size());
}

void MpiTransport::wait_for(std::vector<MPI_Request>& requests, std::vector<MPI_Status>& statuses) {
  const int count = static_cast<int>(requests.size());
  const auto done = [&] {
    int flag = 0;
    check_mpi(MPI_Testall(count, requests.data(), &flag, statuses.data()), "MPI_Testall");
    return flag != 0;
  };
  run_.wait(done, settings_.timeout_seconds, [this] { return complaint(); });
}

Failure MpiTransport::complaint() {
  const std::vector<int> missing = run_.find_missing(group_, progress_.calls, world_ranks_);
  if (missing.empty()) {
    return Failure(fmt::format(
        "[mpi] all ranks are in call {} of the group but it does not end within {} s on rank {} in "
        "{}; look at what the ranks call in checked mode",
        progress_.calls.load(), settings_.timeout_seconds, run_.rank(), describe(header_)));
  }
  std::vector<int> waiting;
  for (const int member : world_ranks_) {
    if (std::find(missing.begin(), missing.end(), member) == missing.end()) {
      waiting.push_back(member);
    }
  }
  const std::string message = fmt::format(
      "[mpi] {} did not arrive within {} s at {}, call {} of the group, where {} wait{}; every "
      "rank "
      "of a group must make the same calls in the same order",
      list_ranks(missing), settings_.timeout_seconds, describe(header_), progress_.calls.load(),
      list_ranks(waiting), waiting.size() == 1 ? "s" : "");
  return Failure(message, missing.front());
}

void MpiTransport::meet() {
  run_.meet(comm_.get(), settings_.timeout_seconds, [this] { return complaint(); });
}

void MpiTransport::meet_before_blocking() {
  run_.meet_before_blocking(comm_.get(), settings_.timeout_seconds, [this] { return complaint(); });
}

const std::byte* MpiTransport::peer_bytes(int, std::int64_t, std::int64_t) {
  require(false, "[mpi] a process cannot look into another one's memory");
  return nullptr;
}

std::unique_ptr<Transport> MpiTransport::split(int color, int key) {
  begin_call(make_call_header(-1, CollectiveOp::kBarrier, DType::kByte, 0, -1,
                              CallTag{"split", Traffic::kChecks, ""}));
  meet_before_blocking();
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(comm_.get(), color < 0 ? INT_MAX + color : color, key, &part),
            "MPI_Comm_split");
  MpiComm owner(part);
  check_mpi(MPI_Comm_set_errhandler(part, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");

  int size = 0;
  check_mpi(MPI_Comm_size(part, &size), "MPI_Comm_size");
  std::vector<int> members(static_cast<std::size_t>(size));
  check_mpi(MPI_Allgather(&world_ranks_[static_cast<std::size_t>(rank_)], 1, MPI_INT,
                          members.data(), 1, MPI_INT, part),
            "MPI_Allgather");
  close();
  // Unique among the groups of a rank, and equal on the members of the part.
  const std::int64_t id = (group_ * 64 + ++splits_) * 4096 + 1 + members.front();
  return std::make_unique<MpiTransport>(run_, std::move(owner), id, std::move(members), settings_);
}

PeerBytes MpiTransport::take_bytes() {
  const auto size = static_cast<std::size_t>(world_size());
  return std::exchange(bytes_, {std::vector<std::int64_t>(size), std::vector<std::int64_t>(size)});
}

}  // namespace zerolab
