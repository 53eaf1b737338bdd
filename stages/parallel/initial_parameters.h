/// \file
/// Where a stage's parameters come from at the start.
#pragma once

#include <cstdint>

#include "stages/device/stream.h"
#include "stages/kernels/kernels.h"
#include "stages/model/layout.h"
#include "stages/stage.h"

namespace zerolab {

/// Writes any elements of any tensor, so that each owner fills its own slices: nothing is broadcast
/// and ZeRO-3 never holds the full model.
class InitialParameters {
 public:
  virtual ~InitialParameters() = default;
  /// dst = elements of `tensor`.
  virtual void write(Stream& stream, int tensor, Range elements, View dst) = 0;

  void write(Stream& stream, const OwnedSlice& slice) {
    for (const Segment& s : slice.segments) {
      write(stream, s.tensor, {s.tensor_begin, s.tensor_begin + s.count},
            slice.values.slice(s.flat_begin, s.count));
    }
  }
};

/// Drawn by Philox from (seed, tensor, element): the same whoever draws it.
class RandomParameters final : public InitialParameters {
 public:
  RandomParameters(const ParameterLayout& layout, Kernels& kernels, std::uint64_t seed)
      : layout_(layout), kernels_(kernels), seed_(seed) {}

  using InitialParameters::write;
  void write(Stream& stream, int tensor, Range elements, View dst) override {
    const TensorSpec& spec = layout_.tensor(tensor);
    switch (spec.init) {
      case Init::kNormal:
        kernels_.normal(stream, dst, spec.deviation, seed_, static_cast<std::uint64_t>(tensor),
                        elements.begin);
        return;
      case Init::kZeros:
        kernels_.fill(stream, dst, 0.0F);
        return;
      case Init::kOnes:
        kernels_.fill(stream, dst, 1.0F);
        return;
    }
  }

 private:
  const ParameterLayout& layout_;
  Kernels& kernels_;
  std::uint64_t seed_;
};

}  // namespace zerolab
