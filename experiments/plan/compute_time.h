/// \file
/// Seconds of a rank's own work: products at the rate of products, the rest at that of memory.
#pragma once

#include <vector>

#include "experiments/plan/cluster.h"
#include "experiments/plan/recipe.h"
#include "experiments/predict/setting.h"

namespace zerolab {

/// Of one micro-batch, by unit; the head is the tied embedding's use at the turn of the passes.
struct ComputeTimes {
  std::vector<double> forward, backward;
  double head_forward = 0, head_backward = 0;
};

/// Products take their operations over the device's rate, 2 forwards for backward and what is
/// recomputed. Everything else is bound by memory: a forward pass writes and reads each
/// activation, a backward pass reads it, writes and reads its gradient; weights are read, their
/// gradients zeroed, read and written.
ComputeTimes compute_times(const Recipe& recipe, const PlannedModel& model,
                           const DeviceSpec& device);

/// The optimizer on `elements`: reads and writes what it keeps, and reads the gradient for the
/// norm. LAMB writes its direction and reads it for the norm and for the update; of Muon's products
/// the rank with the largest matrix computes most.
double update_seconds(const std::string& stage, const Recipe& recipe, const Setting& setting,
                      const DeviceSpec& device, double elements);

}  // namespace zerolab
