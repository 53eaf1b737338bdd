#include "experiments/plan/traffic_plan.h"

#include "experiments/predict/prediction.h"

namespace zerolab {
namespace {

double element_bytes(CollectiveOp op, const StateTypes& types) {
  // Messages between two ranks are an optimizer's own, in fp32.
  if (op == CollectiveOp::kSend || op == CollectiveOp::kRecv) return 4;
  const bool parameters = op == CollectiveOp::kAllGather;
  return static_cast<double>(size_of(parameters ? types.parameters : types.travelling));
}

/// Ranks of a node that share the ring's way out of it.
double ring_sharing(const RunConfig& run) {
  const bool ring = run.reduction == Reduction::kRing || run.reduction == Reduction::kNative;
  return ring && run.ranks_per_node > 0 ? run.ranks_per_node : 1;
}

}  // namespace

int edge_rank(const RunConfig& run) {
  const bool nodes = run.ranks_per_node > 0 && run.ranks_per_node < run.ranks;
  return nodes ? run.ranks_per_node - 1 : 0;
}

TrafficPlan plan_traffic(const std::string& stage, const Recipe& recipe, const PlannedModel& model,
                         const Setting& setting) {
  const CommLedger::Table table = predict_step(stage, setting, predict_states(stage, setting));

  TrafficPlan plan;
  double elements = 0;
  for (const Traffic traffic : {Traffic::kTraining, Traffic::kControl}) {
    for (int i = 0; i < kCollectiveOpCount; ++i) {
      const Volume& volume = table[static_cast<std::size_t>(traffic)][static_cast<std::size_t>(i)];
      if (volume.calls == 0) continue;
      const auto op = static_cast<CollectiveOp>(i);
      plan.lines.push_back({traffic, op, volume});
      if (traffic == Traffic::kControl) {
        plan.control += volume.sent();
        continue;
      }
      plan.sent += volume.sent();
      plan.sent_inter += volume.sent_inter;
      // A ring leaves the node in one place; messages of two ranks do so anywhere.
      const double sharing = op == CollectiveOp::kSend ? 1 : ring_sharing(recipe.run);
      plan.mean_inter += static_cast<double>(volume.sent_inter) / sharing;
      elements += static_cast<double>(volume.sent()) / element_bytes(op, setting.types);
    }
  }
  const RunConfig& run = recipe.run;
  if (run.ranks > 1) {
    const double ring_factor = static_cast<double>(run.ranks - 1) / run.ranks;
    plan.passes = elements / ring_factor / static_cast<double>(model.parameters());
  }
  return plan;
}

}  // namespace zerolab
