/// \file
/// A device, a compute stream and kernels for tests, and data to feed them.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stages/core/philox.h"
#include "stages/device/cpu/cpu_device.h"
#include "stages/kernels/cpu/cpu_kernels.h"

namespace zerolab::testing_kernels {

/// `count` uniform numbers in (−scale, scale), other ones for every seed.
inline std::vector<float> numbers(std::int64_t count, std::uint32_t seed, float scale = 1.0F) {
  std::vector<float> out;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bits = philox({static_cast<std::uint32_t>(i), 0, 0, 0}, {seed, 77});
    out.push_back(scale * (2.0F * uniform(bits[0]) - 1.0F));
  }
  return out;
}

/// `count` integers in [0, limit).
inline std::vector<std::int32_t> tokens(std::int64_t count, std::uint32_t seed,
                                        std::int32_t limit) {
  std::vector<std::int32_t> out;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bits = philox({static_cast<std::uint32_t>(i), 1, 0, 0}, {seed, 77});
    out.push_back(static_cast<std::int32_t>(bits[0] % static_cast<std::uint32_t>(limit)));
  }
  return out;
}

/// Kernels on a guarded device: an access that an operation does not declare ends the test.
class KernelBench {
 public:
  explicit KernelBench(int threads = 2)
      : device_(make_cpu_device({.observers = {}, .poison = true, .guarded = true})),
        stream_(device_->create_stream("compute")),
        kernels_(make_cpu_kernels(threads)) {}

  Device& device() { return *device_; }
  Kernels& kernels() { return *kernels_; }
  Stream& stream() { return *stream_; }

  Buffer empty(std::int64_t count, DType dtype = DType::kFloat32) {
    return device_->allocate(dtype, count, Category::kWorkspace, "test", *stream_);
  }

  template <class T>
  Buffer put(const std::vector<T>& values, DType dtype = dtype_of<T>) {
    Buffer buffer = empty(static_cast<std::int64_t>(values.size()), dtype);
    kernels_->upload(*stream_, values.data(), buffer.view().bytes(), buffer.view());
    return buffer;
  }

  template <class T = float>
  std::vector<T> get(View view) {
    std::vector<T> values(static_cast<std::size_t>(view.count));
    kernels_->download(*stream_, view, values.data());
    stream_->synchronize();
    return values;
  }
  template <class T = float>
  std::vector<T> get(const Buffer& buffer) {
    return get<T>(buffer.view());
  }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<Kernels> kernels_;
};

/// The largest |actual − expected| / (1 + |expected|); infinite when sizes differ, a value is not
/// finite, or everything expected is zero (which would let a kernel that does nothing pass).
inline double worst_error(const std::vector<float>& actual, const std::vector<double>& expected) {
  if (actual.size() != expected.size() || actual.empty()) return INFINITY;
  double worst = 0.0;
  bool all_zero = true;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double a = static_cast<double>(actual[i]);
    if (!std::isfinite(a) || !std::isfinite(expected[i])) return INFINITY;
    if (expected[i] != 0.0) all_zero = false;
    worst = std::max(worst, std::abs(a - expected[i]) / (1.0 + std::abs(expected[i])));
  }
  return all_zero ? INFINITY : worst;
}

inline std::vector<double> widened(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

/// d f / d x[i] by central differences in fp64, for the scalar function f.
template <class F>
std::vector<double> central_differences(std::vector<double> x, const F& f, double step = 1e-6) {
  std::vector<double> slopes;
  for (double& value : x) {
    const double original = value;
    value = original + step;
    const double above = f(x);
    value = original - step;
    const double below = f(x);
    value = original;
    slopes.push_back((above - below) / (2.0 * step));
  }
  return slopes;
}

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace zerolab::testing_kernels
