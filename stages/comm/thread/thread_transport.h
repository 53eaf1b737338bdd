/// \file
/// Transport between threads of one process.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stages/comm/thread/thread_group.h"
#include "stages/comm/transport.h"

namespace zerolab {

struct ThreadTransportSettings {
  bool checked = true;
  double timeout_seconds = 300;  ///< 0: no watchdog
  std::int64_t max_message_bytes = std::int64_t{1} << 28;
};

/// Ranks read each other's buffers in place. Two barriers bracket a collective; a rank that gives
/// up leaves only when nobody can read its memory any more.
class ThreadTransport final : public Transport, private Patience {
 public:
  /// `giving_up` is shared by all transports of this rank: an exception that unwinds one of them
  /// must not wait for a call in flight on another.
  ThreadTransport(std::shared_ptr<ThreadGroup> group, int rank, ThreadTransportSettings settings,
                  std::shared_ptr<std::atomic<bool>> giving_up);
  ~ThreadTransport() override;

  int rank() const override { return rank_; }
  int world_size() const override { return group_->size(); }
  const std::vector<int>& world_ranks() const override { return group_->world_ranks; }

  void open(const CallHeader& header, std::span<const std::byte> shared) override;
  void close() noexcept override;
  void open_pair(const CallHeader& header) override;
  void exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives) override;

  bool shares_memory() const override { return true; }
  const std::byte* peer_bytes(int peer, std::int64_t begin, std::int64_t size) override;
  /// What the peer gave to `open`; not booked. For set-up and the harness.
  std::span<const std::byte> shared_by(int peer) const { return group_->place(peer).shared; }
  void meet() override;

  bool has_native() const override { return false; }
  void native_all_reduce(View in_out) override;
  void native_reduce_scatter(View input, View output) override;
  void native_all_gather(View output) override;

  std::unique_ptr<Transport> split(int color, int key) override;
  PeerBytes take_bytes() override;

  void abort(const std::exception& error) override { group_->abort->raise(error); }
  void give_up() noexcept override;

 private:
  Place& mine() { return group_->place(rank_); }
  void begin_call(const CallHeader& header);
  void enter();
  bool exhausted(const Barrier& barrier) override;
  /// Whether to stop waiting for the missing ranks; sets `complaint_` when that is their fault.
  bool should_stop(const std::vector<int>& missing);
  [[noreturn]] void stop();
  /// Copies what has arrived and removes it from `receives`.
  void take_letters(std::vector<Incoming>& receives);
  Failure complaint_about(const std::vector<int>& missing) const;

  std::shared_ptr<ThreadGroup> group_;
  int rank_;
  ThreadTransportSettings settings_;
  std::shared_ptr<std::atomic<bool>> giving_up_;
  CallHeader header_;
  std::chrono::steady_clock::time_point waiting_since_;
  std::optional<Failure> complaint_;  // of this rank's watchdog, until the barrier is poisoned
  PeerBytes bytes_;
  std::vector<std::int64_t> read_from_;
};

}  // namespace zerolab
