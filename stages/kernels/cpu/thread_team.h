/// \file
/// A fork/join pool: the tiles of one kernel are shared out among a few threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "stages/core/view.h"

namespace zerolab::cpu {

/// Runs indexed tasks on the calling thread and `threads − 1` helpers. Helpers spin briefly for the
/// next job, then sleep on a POSIX semaphore.
///
/// Semaphores order a helper with its caller only. There is no mutex, so ThreadSanitizer sees no
/// accidental order between streams and still reports a forgotten stream wait. One caller at a
/// time, except that a team of one thread has no state and may be used by anybody.
class ThreadTeam {
 public:
  /// \throws std::logic_error for fewer than one thread.
  explicit ThreadTeam(int threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int threads() const { return static_cast<int>(helpers_.size()) + 1; }

  /// Calls task(i) once for each i in [0, count), in no fixed order, and returns when all are done.
  /// The first exception of a task is rethrown; tasks not yet begun are then skipped.
  template <class Task>
  void for_each(std::int64_t count, const Task& task) {
    run(
        count, [](const void* context, std::int64_t i) { (*static_cast<const Task*>(context))(i); },
        &task);
  }

  /// Cuts [0, count) into pieces of `grain` elements and calls task(Range) for each.
  template <class Task>
  void for_ranges(std::int64_t count, std::int64_t grain, const Task& task) {
    for_each((count + grain - 1) / grain, [&](std::int64_t i) {
      task(Range{i * grain, std::min(count, (i + 1) * grain)});
    });
  }

 private:
  using Call = void (*)(const void* context, std::int64_t index);
  struct Job;
  class Helper;
  void run(std::int64_t count, Call call, const void* context);

  std::vector<std::unique_ptr<Helper>> helpers_;
};

}  // namespace zerolab::cpu
