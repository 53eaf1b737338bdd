/// \file
/// Memory for what models compute: the one place where activations get their type.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "stages/device/device.h"

namespace zerolab {

/// Allocates a model's buffers on one device.
class ActivationMemory {
 public:
  /// Activations and their gradients are kept in `dtype`.
  ActivationMemory(Device& device, Stream& compute, DType dtype)
      : device_(device), compute_(compute), dtype_(dtype) {}

  /// Kept from forward for backward.
  Buffer keep(std::string name, std::int64_t count) const {
    return allocate(dtype_, count, Category::kActivations, std::move(name));
  }
  /// Kept too, but means, maxima and sums, which stay fp32.
  Buffer keep_statistic(std::string name, std::int64_t count) const {
    return allocate(DType::kFloat32, count, Category::kActivations, std::move(name));
  }
  /// Gradients of activations, which backward uses in turn.
  Buffer scratch(std::string name, std::int64_t count) const {
    return allocate(dtype_, count, Category::kWorkspace, std::move(name));
  }
  /// fp64 (1)
  Buffer loss() const { return allocate(DType::kFloat64, 1, Category::kWorkspace, "loss"); }

 private:
  Buffer allocate(DType dtype, std::int64_t count, Category category, std::string name) const {
    return device_.allocate(dtype, count, category, std::move(name), compute_);
  }

  Device& device_;
  Stream& compute_;
  DType dtype_;
};

}  // namespace zerolab
