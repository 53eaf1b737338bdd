// DeepSpeed's estimate as a part of a plan.
#include "experiments/plan/accounting.h"
#include "experiments/plan/plan_report.h"

namespace zerolab {
namespace {

/// Why there is no estimate of this stage; empty: there is one.
std::string obstacle(const DeepSpeedPlanInput& json, const PlanReport& report) {
  if (!json.stage) return "the JSON names no ZeRO stage";
  if (*json.stage < 2) return "DeepSpeed has estimators for stages 2 and 3 only";
  if (report.request.recipe.run.precision == "fp32") {
    return "DeepSpeed's estimators are of 16-bit training, and the plan is of fp32";
  }
  for (const StagePlan& plan : report.stages) {
    if (zero_stage(plan.stage) == *json.stage) return "";
  }
  return fmt::format("the JSON's stage {} was not planned", *json.stage);
}

}  // namespace

void add_estimate(PlanReport& report) {
  if (!report.deepspeed) return;
  const DeepSpeedPlanInput& json = *report.deepspeed;
  const std::string why_not = obstacle(json, report);
  if (!why_not.empty()) {
    report.notices.push_back(why_not + ", so there is no estimate to compare with");
    return;
  }
  const Cluster& cluster = report.request.time.cluster;
  EstimatorInput wanted;
  wanted.stage = *json.stage;
  wanted.gpus_per_node = cluster.on_node();
  wanted.nodes = cluster.nodes();
  wanted.offload_parameters = json.offload_parameters;
  wanted.offload_optimizer = json.offload_optimizer;
  for (const StagePlan& plan : report.stages) {
    if (zero_stage(plan.stage) != *json.stage) continue;
    report.estimate = compare_with_estimator(report.request, plan, wanted);
  }
  if (json.offload_parameters || json.offload_optimizer) {
    report.notices.emplace_back(
        "the JSON offloads to the host; the plan is of a run that keeps everything on its devices");
  }
}

}  // namespace zerolab
