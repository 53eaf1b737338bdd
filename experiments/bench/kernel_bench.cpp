#include "experiments/bench/kernel_bench.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>

#include "stages/device/cpu/cpu_device.h"
#include "stages/kernels/cpu/cpu_kernels.h"

namespace zerolab {
namespace {

/// Elements that one thread takes at a time, as the element-wise kernels do.
constexpr std::int64_t kGrain = 1 << 15;
constexpr std::int64_t kRoundsAtATime = 1 << 12;

}  // namespace

KernelBench::KernelBench(int threads, int pairs, double sample_seconds)
    : pairs_(pairs),
      sample_seconds_(sample_seconds),
      device_(make_cpu_device()),
      kernels_(make_cpu_kernels(threads)),
      team_(threads),
      stream_(device_->create_stream("compute")) {}

Buffer KernelBench::allocate(DType dtype, std::int64_t count) {
  return device_->allocate(dtype, count, Category::kWorkspace, "benchmark", *stream_);
}

Buffer KernelBench::floats(std::int64_t count) {
  Buffer buffer = allocate(DType::kFloat32, count);
  kernels_->normal(*stream_, buffer.view(), 0.02F, 1337, 0, 0);
  return buffer;
}

TimePairs KernelBench::against(const Launch& kernel, const Launch& limit) {
  const std::int64_t kernels = repeats_of(kernel);
  const std::int64_t limits = repeats_of(limit);
  return measure_pairs(
      pairs_, [&] { return sample(kernel, kernels); }, [&] { return sample(limit, limits); });
}

double KernelBench::sample(const Launch& work, std::int64_t repeats) {
  stream_->synchronize();
  const double seconds = seconds_of([&] {
    for (std::int64_t i = 0; i < repeats; ++i) work();
    stream_->synchronize();
  });
  return seconds / static_cast<double>(repeats);
}

std::int64_t KernelBench::repeats_of(const Launch& work) {
  sample(work, 1);  // touches memory, wakes helpers
  return std::max<std::int64_t>(1, std::llround(sample_seconds_ / sample(work, 1)));
}

KernelBench::Launch KernelBench::arithmetic_limit(double flops) {
  const auto rounds =
      std::max<std::int64_t>(1, std::llround(flops / static_cast<double>(limits::kFlopsPerRound)));
  return [this, rounds] {
    stream_->launch({"multiply-add", "", {}, {}, [this, rounds] {
                       team_.for_ranges(rounds, kRoundsAtATime, [](Range range) {
                         benchmark::DoNotOptimize(limits::multiply_add(range.size()));
                       });
                     }});
  };
}

KernelBench::Launch KernelBench::copy_limit(std::int64_t count) {
  from_ = floats(count);
  to_ = floats(count);
  const View from = from_.view();
  const View to = to_.view();
  return [this, from, to] {
    stream_->launch({"copy", "", {from}, {to}, [this, from, to] {
                       team_.for_ranges(from.count, kGrain, [&](Range range) {
                         limits::copy(from.as<float>() + range.begin, to.as<float>() + range.begin,
                                      range.size());
                       });
                     }});
  };
}

KernelBench::Launch KernelBench::adamw_limit(View p, View g, View m, View v) {
  return [=, this] {
    stream_->launch({"adamw pattern", "", {g}, {p, m, v}, [=, this] {
                       team_.for_ranges(p.count, kGrain, [&](Range range) {
                         const std::int64_t at = range.begin;
                         limits::adamw_pattern(p.as<float>() + at, g.as<float>() + at,
                                               m.as<float>() + at, v.as<float>() + at,
                                               range.size());
                       });
                     }});
  };
}

}  // namespace zerolab
