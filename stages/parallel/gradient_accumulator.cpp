#include "stages/parallel/gradient_accumulator.h"

#include <bit>

namespace zerolab {

std::string_view name_of(AccumulationOrder order) {
  return order == AccumulationOrder::kLocal ? "local" : "reduced";
}

int GradientAccumulator::buffers(AccumulationShape shape, int micro_batches) {
  if (shape == AccumulationShape::kNone) return 0;
  if (shape == AccumulationShape::kRunning) return 1;
  return std::bit_width(static_cast<unsigned>(micro_batches));
}

GradientAccumulator::GradientAccumulator(Device& device, Stream& stream, Kernels& kernels,
                                         AccumulationShape shape, DType dtype, int micro_batches,
                                         std::int64_t size)
    : kernels_(kernels), shape_(shape), micro_batches_(micro_batches) {
  for (int level = 0; level < buffers(shape, micro_batches); ++level) {
    levels_.push_back(device.allocate(dtype, size, Category::kAccumulators,
                                      fmt::format("accumulator {}", level), stream));
  }
}

void GradientAccumulator::add(Stream& stream, int index, View reduced, Range place) {
  if (!active()) return;
  if (shape_ == AccumulationShape::kRunning) {
    const View sum = levels_[0].slice(place);
    index == 0 ? kernels_.cast(stream, reduced, sum) : kernels_.add(stream, reduced, sum);
    return;
  }
  // Counting up by one carries through the trailing ones: each carry joins two equal subtrees.
  const auto carries = static_cast<std::size_t>(std::countr_one(static_cast<unsigned>(index)));
  View carry = reduced;
  for (std::size_t level = 0; level < carries; ++level) {
    kernels_.add(stream, carry, levels_[level].slice(place));
    carry = levels_[level].slice(place);
  }
  kernels_.cast(stream, carry, levels_[carries].slice(place));
  if (index + 1 < micro_batches_) return;
  // Subtrees that found no partner fold from the smallest to the largest.
  const auto count = static_cast<unsigned>(micro_batches_);
  std::size_t smaller = static_cast<std::size_t>(std::countr_zero(count));
  for (std::size_t level = smaller + 1; level < levels_.size(); ++level) {
    if ((count >> level & 1U) == 0) continue;
    kernels_.add(stream, levels_[smaller].slice(place), levels_[level].slice(place));
    smaller = level;
  }
}

}  // namespace zerolab
