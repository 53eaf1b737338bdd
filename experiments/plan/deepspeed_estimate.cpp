#include "experiments/plan/deepspeed_estimate.h"

#include <algorithm>

#include "stages/core/error.h"

namespace zerolab {
namespace {

Estimate stage_two(const EstimatorInput& in, double P, double N, double n) {
  if (in.offload_optimizer) return {2 * P, P * std::max(4 * N, 16.0) * kAdditionalBufferFactor};
  return {2 * P + 18 * P / N, P * 4 * n * kAdditionalBufferFactor};
}

Estimate stage_three(const EstimatorInput& in, double P, double N, double n) {
  const double L = in.largest_layer;
  const double share = 1.0 / static_cast<double>(in.nodes);
  if (!in.offload_optimizer) {
    return {4 * L + 18 * P / N, (in.zero_init ? L : P) * 4 * n * kAdditionalBufferFactor};
  }
  const double kept = in.offload_parameters ? 18 : 16;
  const double host = in.zero_init ? kept * share : std::max(4 * n, kept * share);
  return {4 * L + (in.offload_parameters ? 0 : 2 * P / N), P * host * kAdditionalBufferFactor};
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

}  // namespace zerolab
