/// \file
/// What all communicators of one process share during one run of the world.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "stages/comm/abort_state.h"
#include "stages/comm/mpi/mpi_handles.h"

namespace zerolab {

/// Where this rank stands in one group; other processes' watchdogs ask for it.
struct GroupProgress {
  std::atomic<std::int64_t> calls{0};  ///< made so far
  std::atomic<bool> in_call{false};
};

/// One run of the world: the abort that travels between processes, and the watchdogs' question
/// "where are you?". Both are small messages on a communicator of their own, looked for by whoever
/// waits; a rank that computes and never waits answers nothing, which is how it is found out.
///
/// Safe from any thread of the process.
class MpiRun {
 public:
  explicit MpiRun(MPI_Comm world);
  ~MpiRun();
  MpiRun(const MpiRun&) = delete;
  MpiRun& operator=(const MpiRun&) = delete;

  int rank() const { return rank_; }
  int world_size() const { return size_; }
  /// For collectives of the host thread.
  MPI_Comm host_comm() const { return host_.get(); }
  /// Whether messages may be left that nobody will receive: communicators must not be freed.
  bool broken() const { return abort_.raised() || giving_up_; }

  const AbortState& abort_state() const { return abort_; }
  /// Whether the abort's message is this rank's own.
  bool aborted_here() const { return aborted_here_; }
  /// Ends the waits of all ranks; false when another error came first.
  bool abort(const std::exception& error);
  /// This rank is unwinding an exception: its own waits end, the message follows by `abort`.
  void give_up() noexcept { giving_up_ = true; }

  using Clock = std::chrono::steady_clock;
  /// Asked by a wait that has lasted longer than its watchdog's time.
  using Complaint = std::function<Failure()>;

  /// Polls `done`, with pauses, until it holds. After `timeout_seconds` (0: never) ends the world
  /// with the complaint. \throws Aborted, Failure
  void wait(const std::function<bool()>& done, double timeout_seconds, const Complaint& complaint);
  /// The same without a watchdog.
  void wait(const std::function<bool()>& done) { wait(done, 0, {}); }
  /// Waits for `done` whether or not the world was aborted; false when it does not hold in time.
  bool wait_regardless(const std::function<bool()>& done, Clock::duration limit);

  /// Returns when all ranks of `comm` have come here; the messages are empty. \throws Aborted,
  /// Failure
  void meet(MPI_Comm comm, double timeout_seconds, const Complaint& complaint) {
    meet(comm, timeout_seconds, complaint, Clock::duration::zero());
  }
  /// The same in front of a blocking call of MPI, which cannot be interrupted: a rank whose wait is
  /// interrupted stays for a moment, so that nobody enters the call without it.
  void meet_before_blocking(MPI_Comm comm, double timeout_seconds, const Complaint& complaint) {
    meet(comm, timeout_seconds, complaint, std::chrono::seconds(1));
  }

  /// After a wait that threw: cancels the first `receives` requests and waits until MPI no longer
  /// writes to their memory; where that does not come, ends the job. Sends that nobody takes are
  /// left to MPI, which reads their memory only when a receiver asks for it.
  void withdraw(std::span<MPI_Request> requests, std::size_t receives);

  /// Groups are known by the same id on all ranks.
  void join(std::int64_t group, const GroupProgress* progress);
  void leave(std::int64_t group);
  /// The members (ranks in the world) that are not in call number `call` of the group: they were
  /// asked and did not answer within a second, or were elsewhere.
  std::vector<int> find_missing(std::int64_t group, std::int64_t call,
                                const std::vector<int>& members);

 private:
  struct Question {
    std::int64_t group, id;
  };
  struct Answer {
    std::int64_t id, calls;
    std::int32_t in_call, rank;
  };
  enum Tag : int { kAbort = 1, kQuestion, kAnswer };

  void meet(MPI_Comm comm, double timeout_seconds, const Complaint& complaint,
            Clock::duration stay);
  void stop_if_aborted() const;
  void look_for_messages();
  void answer(const Question& question, int to);
  void send(int to, Tag tag, const void* data, std::size_t bytes);

  MpiComm control_;
  MpiComm host_;
  int rank_ = 0;
  int size_ = 1;
  AbortState abort_;
  std::atomic<bool> aborted_here_{false};
  std::atomic<bool> giving_up_{false};

  std::mutex mutex_;  // guards what follows; taken only when a message has come, or by set-up
  std::map<std::int64_t, const GroupProgress*> groups_;
  std::int64_t questions_ = 0;
  std::map<std::int64_t, std::vector<Answer>> answers_;  // by question
  struct Sent {
    std::string data;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  std::vector<std::unique_ptr<Sent>> sent_;
};

}  // namespace zerolab
