/// \file
/// A stream with kernels on it, and limits that run in the kernels' place.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "experiments/bench/limits.h"
#include "experiments/bench/paired_ratio.h"
#include "stages/device/device.h"
#include "stages/kernels/cpu/thread_team.h"
#include "stages/kernels/kernels.h"

namespace zerolab {

class KernelBench {
 public:
  /// `sample_seconds`: about how long one measurement takes; work is repeated to fill it.
  KernelBench(int threads, int pairs, double sample_seconds);

  Kernels& kernels() { return *kernels_; }
  Stream& stream() { return *stream_; }
  int threads() const { return team_.threads(); }

  /// Small numbers, none of them zero or denormal.
  Buffer floats(std::int64_t count);
  Buffer allocate(DType dtype, std::int64_t count);

  using Launch = std::function<void()>;
  /// Seconds of one execution of each, in turn.
  TimePairs against(const Launch& kernel, const Launch& limit);

  /// As many floating-point operations, on registers.
  Launch arithmetic_limit(double flops);
  /// Copies an array of its own of `count` floats.
  Launch copy_limit(std::int64_t count);
  /// Reads and writes what AdamW would.
  Launch adamw_limit(View p, View g, View m, View v);

 private:
  double sample(const Launch& work, std::int64_t repeats);
  std::int64_t repeats_of(const Launch& work);

  int pairs_;
  double sample_seconds_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Kernels> kernels_;
  cpu::ThreadTeam team_;
  Buffer from_, to_;
  std::unique_ptr<Stream> stream_;  // last: its work uses the team
};

}  // namespace zerolab
