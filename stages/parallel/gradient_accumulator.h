/// \file
/// Sums of reduced gradients over the micro-batches of a global batch.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "stages/device/device.h"
#include "stages/kernels/kernels.h"

namespace zerolab {

/// When ranks add up: every micro-batch over the ranks first (`kReduced`; what ZeRO-2 and -3 must
/// do), or each rank its own micro-batches first and the ranks once (`kLocal`; K times less
/// traffic).
enum class AccumulationOrder : std::uint8_t { kLocal, kReduced };
std::string_view name_of(AccumulationOrder order);

/// How the micro-batches' reduced gradients are added up.
enum class AccumulationShape : std::uint8_t {
  kNone,     ///< one micro-batch, or local order: nothing to hold
  kRunning,  ///< ((g0 + g1) + g2) + …: one buffer
  kTree,  ///< a binary counter, so that with Reduction::kTree the whole sum is one fixed tree over
          ///< the global micro-batch index: ⌊log2 K⌋ + 1 buffers
};

/// Sums of `size` elements over K micro-batches, fp32 or, to save memory, 16-bit: then each
/// addition is rounded. Sums start from the first term.
class GradientAccumulator {
 public:
  GradientAccumulator(Device& device, Stream& stream, Kernels& kernels, AccumulationShape shape,
                      DType dtype, int micro_batches, std::int64_t size);

  /// Adds the reduced gradient of micro-batch `index`, which lies at `place` of the sum. Call once
  /// per place and micro-batch, in order of micro-batches. Nothing to do for kNone.
  void add(Stream& stream, int index, View reduced, Range place);
  /// Whether sums are held; kNone holds nothing.
  bool active() const { return !levels_.empty(); }
  /// Where the sum over all micro-batches is after the last `add`.
  View total() const { return levels_.back().view(); }

  /// Buffers held: 0, 1 or ⌊log2 K⌋ + 1.
  static int buffers(AccumulationShape shape, int micro_batches);

 private:
  Kernels& kernels_;
  AccumulationShape shape_;
  int micro_batches_;
  std::vector<Buffer> levels_;  // level l: a sum of 2^l consecutive micro-batches
};

}  // namespace zerolab
