/// \file
/// What faults of overflow need to show: a gradient that is infinite on one rank, once.
#pragma once

#include <limits>
#include <memory>
#include <utility>

#include "stages/kernels/forwarding_kernels.h"

namespace zerolab {

/// The `call`-th gradient (from 1) of the tied head gets an infinite first element.
class InfiniteGradient final : public ForwardingKernels {
 public:
  InfiniteGradient(std::unique_ptr<Kernels> inner, int call)
      : ForwardingKernels(std::move(inner)), left_(call) {}

  void head_backward_weight(Stream& stream, View dy, View x, View dw, MatrixShape shape) override {
    inner().head_backward_weight(stream, dy, x, dw, shape);
    if (--left_ == 0) inner().fill(stream, dw.slice(0, 1), std::numeric_limits<float>::infinity());
  }

 private:
  int left_;
};

}  // namespace zerolab
