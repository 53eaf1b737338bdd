// Ranks as the processes that mpirun started.
#include <algorithm>
#include <exception>
#include <numeric>

#include "stages/comm/mpi/mpi_transport.h"
#include "stages/comm/stream_communicator.h"
#include "stages/comm/world.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

using namespace std::chrono_literals;

// How long a rank that has failed waits for the others to stop by themselves.
constexpr auto kGrace = 30s;

class MpiContext final : public RankContext {
 public:
  MpiContext(MpiRun& run, double timeout_seconds)
      : run_(run),
        timeout_seconds_(timeout_seconds),
        members_(static_cast<std::size_t>(run.world_size())) {
    std::iota(members_.begin(), members_.end(), 0);
    run_.join(kHostGroup, &progress_);
  }
  ~MpiContext() override { run_.leave(kHostGroup); }
  MpiContext(const MpiContext&) = delete;
  MpiContext& operator=(const MpiContext&) = delete;

  int rank() const override { return run_.rank(); }
  int world_size() const override { return run_.world_size(); }

  std::unique_ptr<Communicator> create_communicator(Device& device, Stream& stream,
                                                    const CommSettings& settings) override {
    meet("a communicator is made");
    auto transport = std::make_unique<MpiTransport>(
        run_, MpiComm::duplicate(run_.host_comm()), ++groups_, members_,
        MpiTransportSettings{settings.checked, settings.timeout_seconds,
                             settings.max_message_count});
    return std::make_unique<StreamCommunicator>(std::move(transport), device, stream, settings,
                                                "world");
  }

  std::vector<std::string> gather_texts(const std::string& mine) override {
    const auto ranks = static_cast<std::size_t>(world_size());
    const auto length = static_cast<std::int64_t>(mine.size());
    std::vector<std::int64_t> lengths(ranks);
    meet("texts are gathered");
    check_mpi(
        MPI_Allgather(&length, 1, MPI_INT64_T, lengths.data(), 1, MPI_INT64_T, run_.host_comm()),
        "MPI_Allgather");
    std::vector<std::string> texts;
    for (int peer = 0; peer < world_size(); ++peer) {
      const auto bytes = static_cast<std::size_t>(lengths[static_cast<std::size_t>(peer)]);
      texts.push_back(peer == rank() ? mine : std::string(bytes, '\0'));
      broadcast(texts.back(), peer);
    }
    return texts;
  }

 private:
  static constexpr std::int64_t kHostGroup = 0;
  static constexpr std::size_t kMaxPart = std::size_t{1} << 30;  // MPI counts in ints

  void broadcast(std::string& text, int root) {
    for (std::size_t first = 0; first < text.size(); first += kMaxPart) {
      const auto part = static_cast<int>(std::min(kMaxPart, text.size() - first));
      check_mpi(MPI_Bcast(text.data() + first, part, MPI_CHAR, root, run_.host_comm()),
                "MPI_Bcast");
    }
  }

  void meet(const char* where) {
    progress_.calls.fetch_add(1);
    progress_.in_call = true;
    run_.meet_before_blocking(run_.host_comm(), timeout_seconds_, [this, where] {
      const std::vector<int> missing = run_.find_missing(kHostGroup, progress_.calls, members_);
      const std::string message = fmt::format(
          "[mpi] {} did not arrive within {} s where {}; every rank must come there, or raise "
          "--timeout",
          list_ranks(missing), timeout_seconds_, where);
      return Failure(message, missing.empty() ? -1 : missing.front());
    });
    progress_.in_call = false;
  }

  MpiRun& run_;
  const double timeout_seconds_;
  std::vector<int> members_;
  GroupProgress progress_;
  std::int64_t groups_ = kHostGroup;
};

// How a rank's part of a run ended.
enum Outcome : char { kSucceeded, kStoppedWithOthers, kFailed };

class MpiWorld final : public World {
 public:
  explicit MpiWorld(double timeout_seconds) : timeout_seconds_(timeout_seconds) {
    int initialised = 0;
    check_mpi(MPI_Initialized(&initialised), "MPI_Initialized");
    int provided = MPI_THREAD_SINGLE;
    if (initialised != 0) {
      check_mpi(MPI_Query_thread(&provided), "MPI_Query_thread");
    } else {
      check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided),
                "MPI_Init_thread");
      finalises_ = true;
    }
    if (provided < MPI_THREAD_MULTIPLE) {
      fail(
          "[mpi] the MPI library offers thread level {} but the streams need MPI_THREAD_MULTIPLE "
          "({}); build or load an MPI with thread support",
          provided, MPI_THREAD_MULTIPLE);
    }
    check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN),
              "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
  }
  ~MpiWorld() override {
    if (finalises_) report_mpi(MPI_Finalize(), "MPI_Finalize");
  }

  int world_size() const override { return size_; }
  int local_rank() const override { return rank_; }

  void run(const std::function<void(RankContext&)>& body) override {
    MpiRun run(MPI_COMM_WORLD);
    std::exception_ptr error;
    Outcome outcome = kSucceeded;
    try {
      MpiContext context(run, timeout_seconds_);
      body(context);
      // A call failed on the worker and the host never looked.
      if (run.aborted_here()) throw Failure(run.abort_state().error());
      if (run.abort_state().raised()) run.abort_state().throw_aborted();
    } catch (const Aborted& aborted) {
      error = std::current_exception();
      outcome = kStoppedWithOthers;
      run.abort(aborted);
    } catch (const std::exception& exception) {
      error = std::current_exception();
      outcome = kFailed;
      run.abort(exception);
    } catch (...) {
      error = std::current_exception();
      outcome = kFailed;
      run.abort(Failure("[mpi] a rank threw something that is no exception"));
    }
    finish(run, outcome, error);
  }

 private:
  // All ranks learn how the others ended. The lowest of those that failed keeps its exception; the
  // others throw Aborted with the message that reached them.
  void finish(MpiRun& run, Outcome outcome, const std::exception_ptr& error) {
    std::vector<char> outcomes(static_cast<std::size_t>(size_), kSucceeded);
    const char mine = outcome;
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(
        MPI_Iallgather(&mine, 1, MPI_CHAR, outcomes.data(), 1, MPI_CHAR, run.host_comm(), &request),
        "MPI_Iallgather");
    const auto done = [&request] {
      int flag = 0;
      check_mpi(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
      return flag != 0;
    };
    // A rank in good order waits as long as the others need, unless one of them fails.
    const auto done_or_aborted = [&] { return done() || run.abort_state().raised(); };
    while (!run.wait_regardless(done_or_aborted, 1h)) {
    }
    if (!done() && !run.wait_regardless(done, kGrace)) {
      end_mpi_job(fmt::format("{} (rank {} ends the job: another rank did not stop within {} s)",
                              run.abort_state().error().what(), rank_, kGrace.count()));
    }

    for (int rank = 0; rank < size_; ++rank) {
      if (outcomes[static_cast<std::size_t>(rank)] != kFailed) continue;
      if (rank == rank_) std::rethrow_exception(error);
      if (run.abort_state().raised()) run.abort_state().throw_aborted();
      throw Aborted(fmt::format("[mpi] rank {} failed", rank));
    }
    if (error) std::rethrow_exception(error);
  }

  const double timeout_seconds_;
  bool finalises_ = false;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace

bool built_with_mpi() { return true; }

std::unique_ptr<World> make_mpi_world(double timeout_seconds) {
  return std::make_unique<MpiWorld>(timeout_seconds);
}

}  // namespace zerolab
