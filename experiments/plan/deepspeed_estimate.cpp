#include "experiments/plan/deepspeed_estimate.h"

#include <algorithm>
#include <numeric>

#include "experiments/plan/text_table.h"
#include "experiments/plan/units.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr double kBufferFactor = 1.5;  // "additional_buffer_factor"

Estimate stage_two(const EstimatorInput& in, double P, double N, double n) {
  if (in.offload_optimizer) return {2 * P, P * std::max(4 * N, 16.0) * kBufferFactor};
  return {2 * P + 18 * P / N, P * 4 * n * kBufferFactor};
}

Estimate stage_three(const EstimatorInput& in, double P, double N, double n) {
  const double L = in.largest_layer;
  const double share = 1.0 / static_cast<double>(in.nodes);
  if (!in.offload_optimizer) {
    return {4 * L + 18 * P / N, (in.zero_init ? L : P) * 4 * n * kBufferFactor};
  }
  const double kept = in.offload_parameters ? 18 : 16;
  const double host = in.zero_init ? kept * share : std::max(4 * n, kept * share);
  return {4 * L + (in.offload_parameters ? 0 : 2 * P / N), P * host * kBufferFactor};
}

double held(const MemoryPlan& memory, Category category) {
  return static_cast<double>(memory.at_peak[static_cast<std::size_t>(category)]);
}

/// Why a state of `elements` here is not exactly the estimator's share.
const char* padding_reason(double estimated, double exact) {
  return estimated == exact ? "" : "padding: shards are cut in multiples of 32 elements";
}

}  // namespace

Estimate deepspeed_estimate(const EstimatorInput& input) {
  const auto n = static_cast<double>(input.gpus_per_node);
  const double N = n * static_cast<double>(input.nodes);
  if (input.stage == 2) return stage_two(input, input.parameters, N, n);
  if (input.stage == 3) return stage_three(input, input.parameters, N, n);
  bad_input("[plan] DeepSpeed estimates the memory of stages 2 and 3, not of stage {}",
            input.stage);
}

double documented_zero2_gpu_bytes(double parameters, double ranks) {
  return 4 * parameters + 16 * parameters / ranks;
}

EstimateComparison compare_with_estimator(const PlanRequest& request, const StagePlan& plan,
                                          EstimatorInput input) {
  if (request.recipe.run.precision == "fp32") {
    bad_input("[plan] DeepSpeed estimates 16-bit training; enable bf16 or fp16 in the JSON");
  }
  if (input.offload_optimizer || input.offload_parameters) {
    bad_input(
        "[plan] the JSON offloads states to the host, which no stage here does; remove "
        "offload_optimizer and offload_param to compare item by item");
  }
  input.parameters = static_cast<double>(request.model.parameters());
  input.largest_layer = static_cast<double>(request.model.largest_unit());
  const double P = input.parameters, L = input.largest_layer;
  const double N = static_cast<double>(input.gpus_per_node * input.nodes);
  const bool three = input.stage == 3;

  EstimateComparison result;
  result.input = input;
  result.estimate = deepspeed_estimate(input);
  result.exact_bytes = static_cast<double>(plan.memory.peak_bytes);
  const auto add = [&](const char* item, double estimated, double exact, const char* why) {
    if (estimated != 0 || exact != 0) result.lines.push_back({item, estimated, exact, why});
  };
  const auto state = [&](const char* item, Category category, double estimated) {
    const double exact = held(plan.memory, category);
    add(item, estimated, exact, padding_reason(estimated, exact));
  };
  const MemoryPlan& m = plan.memory;
  state("16-bit parameters", Category::kParameters, three ? 2 * P / N : 2 * P);
  add("16-bit gradients, own share", three ? 0 : 2 * P / N, held(m, Category::kGradients),
      three ? "the share is kept until the update; the estimator counts it as fp32 only"
            : padding_reason(2 * P / N, held(m, Category::kGradients)));
  add("fp32 gradients, own share", 4 * P / N, held(m, Category::kAccumulators),
      held(m, Category::kAccumulators) > 0
          ? padding_reason(4 * P / N, held(m, Category::kAccumulators))
          : "no fp32 copy is kept: the optimizer converts as it reads");
  state("fp32 master weights", Category::kMasterWeights, 4 * P / N);
  state("fp32 first moments", Category::kFirstMoments, 4 * P / N);
  add("fp32 second moments", 4 * P / N, held(m, Category::kSecondMoments),
      held(m, Category::kSecondMoments) > 0
          ? padding_reason(4 * P / N, held(m, Category::kSecondMoments))
          : "the optimizer keeps none");
  add("gathered 16-bit parameters", three ? 2 * L : 0, held(m, Category::kGatheredParameters),
      "what is gathered at the moment of the largest total: with overlap the next unit too");
  add("unreduced gradients of units", three ? 2 * L : 0, held(m, Category::kUnitGradients),
      three ? "all that are alive at that moment: the tied embedding's lives longest"
            : "a unit's gradient until it has moved into a bucket");
  add("gradient buckets", 0, held(m, Category::kGradientBuckets), "not estimated");
  add("activations", 0, held(m, Category::kActivations), "not estimated: model states only");
  add("workspace and staging", 0,
      held(m, Category::kWorkspace) + held(m, Category::kCommunicationStaging), "not estimated");
  return result;
}

std::string estimate_text(const EstimateComparison& comparison) {
  TextTable table({fmt::format("stage {} on one device", comparison.input.stage),
                   "DeepSpeed's estimate", "exact", "difference", ""});
  for (const EstimateLine& line : comparison.lines) {
    const double difference = line.exact - line.estimated;
    table.add({"  " + line.item, size_text(line.estimated), size_text(line.exact),
               (difference < 0 ? "-" : "+") + size_text(std::abs(difference)), line.why});
  }
  const auto gib = [](double bytes) { return fmt::format("{:.2f} GiB", bytes / (1 << 30)); };
  table.add({"  together", size_text(comparison.estimate.gpu_bytes),
             size_text(comparison.exact_bytes), "", ""});
  table.add({"  the same in GiB, which DeepSpeed prints as GB", gib(comparison.estimate.gpu_bytes),
             gib(comparison.exact_bytes), "", ""});
  return table.text();
}

}  // namespace zerolab
