/// \file
/// What a rank's two streams do in a step, in the order in which they are told.
#pragma once

#include <string>
#include <vector>

#include "experiments/plan/cluster.h"
#include "experiments/plan/collective_time.h"
#include "experiments/plan/recipe.h"
#include "experiments/predict/setting.h"

namespace zerolab {

/// Every stream does its operations one after another; an operation also waits for others.
struct StepOperation {
  enum Stream : int { kCompute, kCommunication };
  Stream stream = kCompute;
  std::string name;    ///< "forward", "reduce_scatter"
  std::string detail;  ///< "h.2", "3 buckets"
  double seconds = 0;
  bool collective = false;         ///< needs all ranks
  std::int64_t calls = 1;          ///< equal collectives, one right after another
  std::vector<std::size_t> waits;  ///< indices of earlier operations
};

/// Some steps in a row: parameters published at the end of one arrive during the next.
struct StepProgram {
  std::vector<StepOperation> operations;
  std::vector<std::size_t> updates;  ///< the operation that ends each step's arithmetic
};

/// Settings of the time model.
struct TimeModel {
  Cluster cluster;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::kFastest;
};

/// Micro-batches that are laid out one by one; more of them repeat.
inline constexpr int kMostMicroBatches = 6;

/// The stage's step with `micro_batches` (at most `kMostMicroBatches`), as its source file does it:
/// DDP and ZeRO-1 launch every bucket whose end is complete; ZeRO-2 does the same but waits for a
/// free one of its two buckets; ZeRO-3 gathers the next unit while one computes. Without overlap
/// there is one stream.
StepProgram step_program(const std::string& stage, const Recipe& recipe, const PlannedModel& model,
                         const Setting& setting, const TimeModel& time, int micro_batches,
                         int steps);

}  // namespace zerolab
