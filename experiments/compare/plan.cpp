#include "experiments/compare/plan.h"

#include <algorithm>

#include "experiments/runner/stage_factory.h"

namespace zerolab {
namespace {

std::string choose_reference(const RunConfig& config, const std::string& faulty) {
  std::string reference;
  for (const std::string& stage : config.stages) {
    if (stage == faulty) continue;
    if (stage == "ddp") return stage;
    if (reference.empty()) reference = stage;
  }
  return reference.empty() ? config.stages.front() : reference;
}

/// The runs of `stages`, the reference first.
void add_runs(ComparisonPlan& plan, const std::vector<std::string>& stages,
              const std::string& reference, const std::string& suffix, AccumulationOrder order,
              const std::string& faulty, bool usual = false) {
  const auto add = [&](const std::string& stage, const std::string& compared_with) {
    const bool local = usual && supports_local_accumulation(stage);
    plan.runs.push_back({stage + suffix, stage, compared_with,
                         local ? AccumulationOrder::kLocal : order, stage == faulty});
  };
  add(reference, "");
  for (const std::string& stage : stages) {
    if (stage != reference) add(stage, reference + suffix);
  }
}

}  // namespace

ComparisonPlan plan_comparison(const RunConfig& config, const FaultLabel* fault) {
  const std::string faulty = fault ? fault->stage : "";
  ComparisonPlan plan;
  plan.reference = choose_reference(config, faulty);
  add_runs(plan, config.stages, plan.reference, "", config.accumulation_order, faulty,
           config.usual_order);

  const bool both_orders = config.accumulate > 1 &&
                           config.accumulation_order == AccumulationOrder::kReduced &&
                           !config.usual_order && !fault;
  if (!both_orders) return plan;
  std::vector<std::string> local;
  std::ranges::copy_if(config.stages, std::back_inserter(local), supports_local_accumulation);
  if (local.empty()) return plan;
  const bool ddp = std::ranges::find(local, "ddp") != local.end();
  add_runs(plan, local, ddp ? "ddp" : local.front(), ".local", AccumulationOrder::kLocal, faulty);
  return plan;
}

ComparisonPlan plan_training(const RunConfig& config) {
  const std::string& stage = config.stages.front();
  return {stage, {{stage, stage, "", config.accumulation_order, false}}};
}

RunConfig config_of(const RunConfig& config, const PlannedRun& run) {
  RunConfig own = config;
  own.accumulation_order = run.order;
  if (!run.faulty) own.fault.clear();
  return own;
}

StageRun stage_run(const PlannedRun& run) {
  const StageFactory factory = run.own() ? run.factory : stage_factory(run.stage);
  return {run.name, run.stage, factory, run.order, {}, {}};
}

}  // namespace zerolab
