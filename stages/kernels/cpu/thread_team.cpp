#include "stages/kernels/cpu/thread_team.h"

#include <semaphore.h>

#include <cerrno>
#include <exception>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace zerolab::cpu {
namespace {

// Long enough to bridge the gap between two kernels of a busy stream (about ten microseconds),
// short enough not to matter when ranks outnumber the cores.
constexpr int kSpins = 300;

class Semaphore {
 public:
  Semaphore() { sem_init(&semaphore_, 0, 0); }
  ~Semaphore() { sem_destroy(&semaphore_); }
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  void post() { sem_post(&semaphore_); }
  void wait() {
    for (int i = 0; i < kSpins; ++i) {
      if (sem_trywait(&semaphore_) == 0) return;
#if defined(__x86_64__)
      _mm_pause();
#endif
    }
    while (sem_wait(&semaphore_) != 0 && errno == EINTR) {
    }
  }

 private:
  sem_t semaphore_{};
};

}  // namespace

struct ThreadTeam::Job {
  std::int64_t count;
  Call call;
  const void* context;
  std::atomic<std::int64_t> next{0};

  /// Relaxed: the counter hands out indices and must not order one helper's work with another's.
  void work() {
    try {
      for (;;) {
        const std::int64_t i = next.fetch_add(1, std::memory_order_relaxed);
        if (i >= count) return;
        call(context, i);
      }
    } catch (...) {
      next.store(count, std::memory_order_relaxed);
      throw;
    }
  }
};

class ThreadTeam::Helper {
 public:
  Helper() : thread_([this] { loop(); }) {}
  ~Helper() {
    start(nullptr);
    thread_.join();
  }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  void start(Job* job) {
    job_ = job;
    start_.post();
  }
  std::exception_ptr finish() {
    done_.wait();
    return std::exchange(error_, nullptr);
  }

 private:
  void loop() {
    for (;;) {
      start_.wait();
      if (job_ == nullptr) return;
      try {
        job_->work();
      } catch (...) {
        error_ = std::current_exception();
      }
      done_.post();
    }
  }

  Job* job_ = nullptr;
  std::exception_ptr error_;
  Semaphore start_;
  Semaphore done_;
  std::thread thread_;  // last: it uses everything above
};

ThreadTeam::ThreadTeam(int threads) {
  require(threads >= 1, "[kernels] a thread team of {} threads was asked for, at least 1 is needed",
          threads);
  for (int i = 1; i < threads; ++i) helpers_.push_back(std::make_unique<Helper>());
}

ThreadTeam::~ThreadTeam() = default;

void ThreadTeam::run(std::int64_t count, Call call, const void* context) {
  const auto wanted = std::min(static_cast<std::int64_t>(helpers_.size()), count - 1);
  if (wanted <= 0) {
    for (std::int64_t i = 0; i < count; ++i) call(context, i);
    return;
  }
  Job job{count, call, context};
  const auto used = static_cast<std::size_t>(wanted);
  for (std::size_t i = 0; i < used; ++i) helpers_[i]->start(&job);
  std::exception_ptr error;
  try {
    job.work();
  } catch (...) {
    error = std::current_exception();
  }
  // The job lives on this stack frame, so every helper is waited for, whatever happened.
  for (std::size_t i = 0; i < used; ++i) {
    if (std::exception_ptr theirs = helpers_[i]->finish(); theirs && !error) error = theirs;
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace zerolab::cpu
