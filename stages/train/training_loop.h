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
#include "stages/train/loss_weighting.h"
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
    const LossWeighting& weighting;
  };

  /// Observers are told in the order given.
  TrainingLoop(Parts parts, TrainingSettings settings, std::vector<TrainObserver*> observers);

  /// Trains for `settings.steps` steps.
  void run();

 private:
  /// Scalars that every rank contributes, one a micro-batch, and those of all ranks.
  struct Scalars {
    Buffer mine, all;  // fp64 (W·M), (N·W·M); W = 2 where tokens are counted too, else 1
    std::vector<std::int64_t> valid;  // (M), what this rank counted
  };
  /// What a global batch adds up to.
  struct Sums {
    double loss = 0;         ///< in order of global micro-batches
    std::int64_t valid = 0;  ///< targets that count
  };

  /// Of this rank's micro-batch m: m·N + r.
  std::int64_t global_index(std::int64_t m) const;
  Scalars allocate(std::int64_t micro_batches, const char* name);
  /// Mean loss over the held-out micro-batches; the same on all ranks.
  double evaluate();
  StepRecord train_step(std::int64_t step);
  void train_micro_batch(std::int64_t step, int m, float weight, StepRecord& record);
  /// Sends the ranks' scalars to all of them, on the communication stream.
  void gather(Scalars& scalars, const char* what);
  /// Sums over the first `count` global micro-batches. Blocks the host.
  Sums add_up(const Scalars& scalars, std::int64_t count);

  Parts parts_;
  TrainingSettings settings_;
  std::vector<TrainObserver*> observers_;
  PhaseMarker marked_;
  std::int64_t updates_ = 0;       // steps that were not skipped
  float norm_and_factor_[2] = {};  // where the compute stream downloads them to
  Scalars losses_, held_out_;
};

}  // namespace zerolab
