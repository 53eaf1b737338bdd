/// \file
/// What a training step reports, and who is told about it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stages/stage.h"

namespace zerolab {

/// One optimizer step, the same on all ranks but for `positions` and `seconds`.
struct StepRecord {
  std::int64_t step = 0;  ///< from 1
  double loss = 0;        ///< mean over the global batch: fp64 sum in order of global micro-batches
  float grad_norm = 0;    ///< of the mean gradient, before clipping; NaN in a skipped step
  float factor = 0;       ///< what the optimizer multiplied the summed gradient with, or NaN
  float learning_rate = 0;
  double loss_scale = 1;  ///< what the loss was multiplied with before backward
  bool skipped = false;   ///< the gradient overflowed on some rank: no rank changed anything
  std::optional<double> held_out_loss;
  double seconds = 0;       ///< wall time of the step on this rank, evaluation not included
  std::int64_t tokens = 0;  ///< of the global batch
  /// Where this rank's sequences start in the data, micro-batch by micro-batch.
  std::vector<std::int64_t> positions;
};

/// Told on the rank's host thread. Checks launch their kernels on the compute stream.
class TrainObserver {
 public:
  virtual ~TrainObserver() = default;
  /// The parameters are initialised; nothing has been trained.
  virtual void started(Stage&) {}
  virtual void step_begins(std::int64_t /*step*/, Stage&) {}
  /// `gradients_ready` has been called for the last micro-batch; `step` has not.
  virtual void gradients_complete(std::int64_t /*step*/, Stage&) {}
  /// Around a held-out loss; both streams are idle.
  virtual void evaluation_begins(std::int64_t /*step*/) {}
  virtual void evaluation_ended(std::int64_t /*step*/) {}
  virtual void step_ended(const StepRecord&, Stage&) {}
  /// After the last step; the parameters are final.
  virtual void ended(Stage&) {}
};

}  // namespace zerolab
