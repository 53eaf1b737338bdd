/// \file
/// Seeded random delays in stream work: another interleaving of the streams for each seed.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "stages/device/observer.h"

namespace zerolab {

/// Sleeps before operations and waits (REP, `--jitter SEED`). The delays follow from seed, rank,
/// stream and the count of operations and waits on the stream; results must not follow from them.
class Jitter final : public DeviceObserver {
 public:
  explicit Jitter(std::uint64_t seed, int rank = 0,
                  std::chrono::microseconds longest = std::chrono::microseconds(200));

  void worker_begins(const Stream& stream, const Operation& operation) override;
  void worker_waits(const Stream& stream, const char* reason) override;

  /// The delay before the `index`-th (from 0) operation or wait of a stream. Three in four are
  /// zero, so that streams drift apart instead of all getting slower.
  std::chrono::microseconds delay(int stream_id, std::uint64_t index) const;

 private:
  struct alignas(64) Counter {
    std::uint64_t next = 0;
  };

  void sleep(const Stream& stream);

  std::uint64_t seed_;
  std::chrono::microseconds longest_;
  std::array<Counter, kMaxStreams + 1> counters_{};  // each touched by its stream's worker only
};

}  // namespace zerolab
