// DeepSpeed's estimate as a part of a plan.
#include "experiments/plan/accounting.h"
#include "experiments/plan/deepspeed_input.h"
#include "experiments/plan/plan_report.h"
#include "experiments/plan/units.h"

namespace zerolab {

void add_estimate(const DeepSpeedPlanInput& input, PlanReport& report) {
  const Cluster& cluster = report.request.time.cluster;
  EstimatorInput wanted;
  wanted.stage = input.stage;
  wanted.gpus_per_node = cluster.on_node();
  wanted.nodes = cluster.nodes();
  wanted.offload_parameters = input.offload_parameters;
  wanted.offload_optimizer = input.offload_optimizer;
  for (const StagePlan& plan : report.stages) {
    if (zero_stage(plan.stage) != input.stage || input.stage < 2) continue;
    if (input.offload_optimizer || input.offload_parameters) {
      wanted.parameters = static_cast<double>(report.request.model.parameters());
      wanted.largest_layer = static_cast<double>(report.request.model.largest_unit());
      const Estimate estimate = deepspeed_estimate(wanted);
      report.notices.push_back(fmt::format(
          "DeepSpeed estimates {} on a device and {} on a node's host for this JSON; the plan is "
          "of a run that offloads nothing",
          size_text(estimate.gpu_bytes), size_text(estimate.cpu_bytes)));
    } else if (report.request.recipe.run.precision == "fp32") {
      report.notices.emplace_back(
          "DeepSpeed's estimators are of 16-bit training and the JSON enables neither bf16 nor "
          "fp16, so there is no estimate to compare with");
    } else {
      report.estimate = compare_with_estimator(report.request, plan, wanted);
    }
    return;
  }
  report.notices.emplace_back(
      "DeepSpeed has estimators for stages 2 and 3 only, so there is no estimate to compare with");
}

}  // namespace zerolab
