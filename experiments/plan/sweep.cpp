#include "experiments/plan/sweep.h"

#include <nlohmann/json.hpp>

#include "experiments/plan/fitting.h"

namespace zerolab {
namespace {

constexpr int kMostRanks = 16'384;

PlanRequest on_ranks(PlanRequest request, int ranks) {
  request.recipe.run.ranks = ranks;
  request.time.cluster.ranks = ranks;
  // Whole nodes, or a part of one.
  const int node = request.recipe.run.ranks_per_node;
  if (node > 0 && ranks > node && ranks % node != 0) {
    request.recipe.run.ranks_per_node = 0;
    request.time.cluster.ranks_per_node = 0;
  }
  request.time.cluster.device.product_flops = 0;  // times are not asked for
  return request;
}

}  // namespace

std::vector<SweepPoint> sweep_ranks(const PlanRequest& request) {
  std::vector<SweepPoint> points;
  for (int ranks = 1; ranks <= kMostRanks; ranks *= 2) {
    const PlanRequest own = on_ranks(request, ranks);
    for (const StagePlan& plan : plan_stages(own)) {
      SweepPoint point{ranks, plan.stage, plan.memory.peak_bytes, plan.memory.states_bytes, 0};
      if (own.time.cluster.device.memory_bytes > 0) {
        point.largest_model = largest_model(plan.stage, own);
      }
      points.push_back(point);
    }
  }
  return points;
}

Json sweep_json(const std::vector<SweepPoint>& points) {
  Json json = Json::array();
  for (const SweepPoint& point : points) {
    json.push_back({{"ranks", point.ranks},
                    {"stage", point.stage},
                    {"peak_bytes", point.peak_bytes},
                    {"states_bytes", point.states_bytes},
                    {"largest_model_parameters", point.largest_model}});
  }
  return json;
}

}  // namespace zerolab
