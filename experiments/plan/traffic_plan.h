/// \file
/// Bytes that one rank of a planned run sends in a step.
#pragma once

#include <vector>

#include "experiments/plan/recipe.h"
#include "experiments/predict/stage_prediction.h"

namespace zerolab {

/// One kind of collective in one step.
struct TrafficLine {
  Traffic traffic{};
  CollectiveOp op{};
  Volume volume;  ///< of the planned rank
};

struct TrafficPlan {
  std::vector<TrafficLine> lines;
  std::int64_t sent = 0;        ///< for training, by the planned rank
  std::int64_t control = 0;     ///< scalars: losses and the norm
  std::int64_t sent_inter = 0;  ///< of `sent`, to other nodes: the rank at its node's edge
  /// The same for the mean rank of a node: a ring leaves the node in one place only.
  double mean_inter = 0;
  /// Elements sent over Ψ, without the ring's factor (N−1)/N: 2 for DDP, 3 for ZeRO-3.
  double passes = 0;
};

/// The rank whose bytes are shown: the last of the first node, where the ring leaves it.
int edge_rank(const RunConfig& run);

TrafficPlan plan_traffic(const std::string& stage, const Recipe& recipe, const PlannedModel& model,
                         const Setting& setting);

}  // namespace zerolab
