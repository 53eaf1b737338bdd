/// \file
/// The one training loop that all stages run in.
#pragma once

#include <vector>

#include "stages/comm/communicator.h"
#include "stages/device/device.h"
#include "stages/kernels/kernels.h"
#include "stages/model/model.h"
#include "stages/optim/loss_scaler.h"
#include "stages/parallel/gradient_accumulator.h"
#include "stages/train/data_feed.h"
#include "stages/train/phase_marker.h"
#include "stages/train/schedule.h"
#include "stages/train/step_record.h"

namespace zerolab {

struct TrainingSettings {
  std::int64_t steps = 1;
  int micro_batches = 1;  ///< K, gradient accumulation steps
  AccumulationOrder order = AccumulationOrder::kReduced;
  Schedule schedule;
  LossScaler loss_scaler;             ///< 1, but for fp16
  std::int64_t evaluate_every = 0;    ///< steps between held-out losses; 0 = never
  std::int64_t held_out_batches = 8;  ///< micro-batches in the held-out loss, over all ranks
};

/// One rank's side of training: micro-batch m of rank r has global index m·N + r.
class TrainingLoop {
 public:
  struct Parts {
    Device& device;
    Stream& compute;
    Communicator& comm;
    Kernels& kernels;
    Model& model;
    Stage& stage;
    DataFeed& data;
  };

  /// Observers are told in the order given.
  TrainingLoop(Parts parts, TrainingSettings settings, std::vector<TrainObserver*> observers);

  /// Trains for `settings.steps` steps.
  void run();

 private:
  /// Mean loss over the held-out micro-batches; the same on all ranks.
  double evaluate();
  StepRecord train_step(std::int64_t step);
  /// all = the ranks' values, in rank order.
  void gather(View mine, View all, const char* what);
  /// Reads gathered values back, element m of rank r at index m·N + r. Blocks the host.
  std::vector<double> by_global_index(View all);

  Parts parts_;
  TrainingSettings settings_;
  std::vector<TrainObserver*> observers_;
  PhaseMarker marked_;
  std::int64_t updates_ = 0;        // steps that were not skipped
  float norm_and_factor_[2] = {};   // where the compute stream downloads them to
  Buffer losses_, all_losses_;      // fp64 (K), (N·K)
  Buffer held_out_, all_held_out_;  // fp64 (⌈G/N⌉), (N·⌈G/N⌉)
};

}  // namespace zerolab
