/// \file
/// Reductions of gradients that travel in another type than they are kept in.
#pragma once

#include "stages/comm/communicator.h"
#include "stages/device/device.h"
#include "stages/kernels/kernels.h"
#include "stages/parallel/precision.h"

namespace zerolab {

/// Rounds gradients to the recipe's reduce type before they travel, also on one rank, and brings
/// the sum back. Where the types are the same this is the communicator itself and holds nothing;
/// otherwise it holds one payload of the largest piece. Everything happens on the communicator's
/// stream, so one payload is enough.
class GradientPayload {
 public:
  /// `largest`: elements of the longest gradient that is reduced at once.
  GradientPayload(Device& device, Stream& compute, Communicator& comm, Kernels& kernels,
                  const Precision& precision, std::int64_t largest);

  /// Communicator::all_reduce
  void all_reduce(View in_out, const CallTag& tag);
  /// Communicator::reduce_scatter
  void reduce_scatter(View input, View output, const CallTag& tag);

 private:
  View rounded(View gradients);

  Communicator& comm_;
  Kernels& kernels_;
  Buffer payload_;  // (largest) in the reduce type, or nothing
};

}  // namespace zerolab
