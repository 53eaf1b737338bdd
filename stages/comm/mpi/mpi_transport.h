/// \file
/// Transport between processes, over MPI.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stages/comm/mpi/mpi_handles.h"
#include "stages/comm/mpi/mpi_run.h"
#include "stages/comm/transport.h"

namespace zerolab {

struct MpiTransportSettings {
  bool checked = true;
  double timeout_seconds = 300;
  std::int64_t max_message_count = std::int64_t{1} << 28;  ///< bytes; elements in native calls
};

/// Messages are MPI's own, in batches; all waits poll, so that an abort ends them. Reductions over
/// a user's buffer happen in algorithms.h, except the native ones.
class MpiTransport final : public Transport {
 public:
  /// `run` must outlive the transport. `group` is the id of the group, equal on all its members.
  MpiTransport(MpiRun& run, MpiComm comm, std::int64_t group, std::vector<int> world_ranks,
               MpiTransportSettings settings);
  ~MpiTransport() override;

  int rank() const override { return rank_; }
  int world_size() const override { return static_cast<int>(world_ranks_.size()); }
  const std::vector<int>& world_ranks() const override { return world_ranks_; }

  void open(const CallHeader& header, std::span<const std::byte> shared) override;
  void close() noexcept override { progress_.in_call = false; }
  void open_pair(const CallHeader& header) override;
  void exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives) override;
  void meet() override;

  bool shares_memory() const override { return false; }
  const std::byte* peer_bytes(int peer, std::int64_t begin, std::int64_t size) override;

  bool has_native() const override { return true; }
  void native_all_reduce(View in_out) override;
  void native_reduce_scatter(View input, View output) override;
  void native_all_gather(View array) override;

  std::unique_ptr<Transport> split(int color, int key) override;
  PeerBytes take_bytes() override;

  void abort(const std::exception& error) override { run_.abort(error); }
  void give_up() noexcept override { run_.give_up(); }

 private:
  void begin_call(const CallHeader& header);
  void wait_for(std::vector<MPI_Request>& requests, std::vector<MPI_Status>& statuses);
  Failure complaint();
  void meet_before_blocking();
  void book(std::vector<std::int64_t>& line, int peer, std::size_t bytes) {
    line[static_cast<std::size_t>(peer)] += static_cast<std::int64_t>(bytes);
  }

  MpiRun& run_;
  MpiComm comm_;
  std::int64_t group_;
  std::vector<int> world_ranks_;
  MpiTransportSettings settings_;
  int rank_ = 0;
  GroupProgress progress_;
  CallHeader header_;
  std::int64_t splits_ = 0;
  PeerBytes bytes_;
};

}  // namespace zerolab
