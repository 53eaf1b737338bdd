/// \file
/// The global gradient norm and the one factor that the optimizer applies.
#pragma once

#include <vector>

#include "stages/comm/communicator.h"
#include "stages/device/device.h"
#include "stages/kernels/kernels.h"
#include "stages/stage.h"

namespace zerolab {

/// Clipping by global norm. The norm is an order-free sum: every partial sum is exact, so it has
/// the same bits however the gradient is cut among ranks. It costs two all-gathers of scalars, 4
/// and 24 bytes, and nothing where every rank holds the whole gradient.
class Clipper {
 public:
  /// max_norm <= 0: the norm is measured, nothing is clipped. `global_count`: elements over all
  /// ranks.
  Clipper(Device& device, Stream& compute, Communicator& comm, Kernels& kernels, double max_norm,
          std::int64_t global_count);
  virtual ~Clipper() = default;

  /// fp32 (2): {norm of gradient · scale, factor = scale · min(1, max_norm / (norm + 1e-6))}, on
  /// the compute stream. Slices that are replicated are summed locally.
  virtual View factor(const std::vector<OwnedSlice>& gradients, double scale);
  View norm_and_factor() const { return result_.view(); }

 protected:
  /// maxima, sums: this rank's scalars, `parts` ranks' behind one another afterwards.
  virtual View gather(View mine, View all, const char* what);
  virtual void finish(View maxima, View sums, int parts, double scale);

  Stream& compute_;
  Communicator& comm_;
  Kernels& kernels_;
  double max_norm_;
  std::int64_t global_count_;

 private:
  Buffer maximum_, sums_, all_maxima_, all_sums_, result_;
};

}  // namespace zerolab
