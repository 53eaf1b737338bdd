// Ranks as threads of this process.
#include <exception>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <system_error>
#include <thread>

#include "stages/comm/stream_communicator.h"
#include "stages/comm/thread/thread_transport.h"
#include "stages/comm/world.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

// One run of a world: the groups its ranks share, and the first failure.
class ThreadRun {
 public:
  explicit ThreadRun(int ranks) : ranks_(ranks), abort_(std::make_shared<AbortState>()) {}

  int ranks() const { return ranks_; }

  // All ranks ask for the same groups in the same order; the first one makes it.
  std::shared_ptr<ThreadGroup> group(int index) {
    const std::scoped_lock lock(mutex_);
    auto& group = groups_[index];
    if (!group) {
      std::vector<int> members(static_cast<std::size_t>(ranks_));
      std::iota(members.begin(), members.end(), 0);
      group = std::make_shared<ThreadGroup>(std::move(members), abort_);
    }
    return group;
  }

  void failed(const std::exception& reason, const std::exception_ptr& error, bool consequence) {
    abort_->raise(reason);
    const std::scoped_lock lock(mutex_);
    auto& slot = consequence ? first_consequence_ : first_error_;
    if (!slot) slot = error;
  }

  void rethrow() const {
    if (first_error_) std::rethrow_exception(first_error_);
    if (first_consequence_) std::rethrow_exception(first_consequence_);
    if (abort_->raised()) throw Failure(abort_->error());
  }

 private:
  const int ranks_;
  const std::shared_ptr<AbortState> abort_;
  std::mutex mutex_;
  std::map<int, std::shared_ptr<ThreadGroup>> groups_;
  std::exception_ptr first_error_;
  std::exception_ptr first_consequence_;  // an Aborted
};

class ThreadContext final : public RankContext {
 public:
  ThreadContext(ThreadRun& run, int rank, double timeout_seconds)
      : run_(run),
        rank_(rank),
        host_(run.group(0), rank, {.checked = false, .timeout_seconds = timeout_seconds},
              giving_up_) {}

  int rank() const override { return rank_; }
  int world_size() const override { return run_.ranks(); }

  std::unique_ptr<Communicator> create_communicator(Device& device, Stream& stream,
                                                    const CommSettings& settings) override {
    auto transport = std::make_unique<ThreadTransport>(
        run_.group(++groups_), rank_,
        ThreadTransportSettings{settings.checked, settings.timeout_seconds,
                                settings.max_message_count},
        giving_up_);
    return std::make_unique<StreamCommunicator>(std::move(transport), device, stream, settings,
                                                "world");
  }

  std::vector<std::string> gather_texts(const std::string& mine) override {
    const CallHeader header = make_call_header(0, CollectiveOp::kAllGather, DType::kByte, 0, -1,
                                               CallTag{"gather texts", Traffic::kChecks, ""});
    const OpenCall call(host_, header, std::as_bytes(std::span(mine)));
    std::vector<std::string> texts;
    for (int peer = 0; peer < world_size(); ++peer) {
      const auto bytes = host_.shared_by(peer);
      texts.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    return texts;
  }

  void give_up() { host_.give_up(); }

 private:
  ThreadRun& run_;
  int rank_;
  int groups_ = 0;  // group 0 is the host's own
  std::shared_ptr<std::atomic<bool>> giving_up_ = std::make_shared<std::atomic<bool>>(false);
  ThreadTransport host_;
};

void run_rank(ThreadRun& run, int rank, double timeout_seconds,
              const std::function<void(RankContext&)>& body) {
  std::optional<ThreadContext> context;
  const auto failed = [&](const std::exception& reason, bool consequence) {
    if (context) context->give_up();
    run.failed(reason, std::current_exception(), consequence);
  };
  try {
    context.emplace(run, rank, timeout_seconds);
    body(*context);
  } catch (const Aborted& error) {
    failed(error, true);
  } catch (const std::exception& error) {
    failed(error, false);
  } catch (...) {
    failed(Failure("[comm] a rank threw something that is no exception"), false);
  }
}

class ThreadWorld final : public World {
 public:
  ThreadWorld(int ranks, double timeout_seconds)
      : ranks_(ranks), timeout_seconds_(timeout_seconds) {}

  int world_size() const override { return ranks_; }
  int local_rank() const override { return 0; }

  void run(const std::function<void(RankContext&)>& body) override {
    ThreadRun run(ranks_);
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(ranks_));
    try {
      for (int rank = 0; rank < ranks_; ++rank) {
        threads.emplace_back(
            [&run, rank, &body, this] { run_rank(run, rank, timeout_seconds_, body); });
      }
    } catch (const std::system_error& error) {
      const Failure failure(
          fmt::format("[comm] could not start thread {} of {} ({}); use fewer ranks",
                      threads.size() + 1, ranks_, error.what()));
      run.failed(failure, std::make_exception_ptr(failure), false);
    }
    for (std::thread& thread : threads) thread.join();
    run.rethrow();
  }

 private:
  int ranks_;
  double timeout_seconds_;
};

}  // namespace

std::unique_ptr<World> make_thread_world(int ranks, double timeout_seconds) {
  if (ranks < 1 || ranks > 1024) {
    bad_input("[comm] {} ranks; thread ranks must be between 1 and 1024", ranks);
  }
  return std::make_unique<ThreadWorld>(ranks, timeout_seconds);
}

}  // namespace zerolab
