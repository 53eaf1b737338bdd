#include "stages/kernels/cpu/loss.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stages/core/error.h"
#include "stages/kernels/cpu/softmax.h"

namespace zerolab::cpu {
namespace {

/// The loss of one row; its logits become the gradient if that is wanted.
double row_loss(float* logits, std::int32_t target, std::int64_t V, float scale, bool gradient) {
  if (target >= V) {
    fail(
        "[cross_entropy] target {} was found, targets below {} were expected; check that the data "
        "was made for this model's vocabulary",
        target, V);
  }
  if (target < 0) {
    if (gradient) std::fill_n(logits, V, 0.0F);
    return 0.0;
  }
  const float max = row_max(logits, V);
  const float wanted = logits[target];
  const float sum = exp_and_sum(logits, gradient ? logits : nullptr, V, max);
  if (gradient) {
    multiply_row(logits, V, scale / sum);
    logits[target] -= scale;
  }
  return std::log(static_cast<double>(sum)) + static_cast<double>(max) -
         static_cast<double>(wanted);
}

double sum_in_order(const std::vector<double>& terms) {
  double sum = 0.0;
  for (const double term : terms) sum += term;
  return sum;
}

}  // namespace

double cross_entropy(ThreadTeam& team, float* logits, const std::int32_t* targets,
                     std::int64_t rows, std::int64_t V, float scale, bool gradient) {
  std::vector<double> losses(static_cast<std::size_t>(rows));
  const std::int64_t grain = std::max<std::int64_t>(1, 8192 / V);
  team.for_ranges(rows, grain, [&](Range r) {
    for (std::int64_t i = r.begin; i < r.end; ++i) {
      losses[static_cast<std::size_t>(i)] =
          row_loss(logits + i * V, targets[i], V, scale, gradient);
    }
  });
  return sum_in_order(losses);
}

double squared_error(ThreadTeam& team, const float* prediction, const float* target,
                     float* dprediction, std::int64_t count, float scale) {
  constexpr std::int64_t kBlock = 4096;
  std::vector<double> blocks(static_cast<std::size_t>((count + kBlock - 1) / kBlock));
  team.for_ranges(count, kBlock, [&](Range r) {
    double sum = 0.0;
    for (std::int64_t i = r.begin; i < r.end; ++i) {
      const float difference = prediction[i] - target[i];
      sum += static_cast<double>(difference) * static_cast<double>(difference);
      if (dprediction != nullptr) dprediction[i] = 2.0F * scale * difference;
    }
    blocks[static_cast<std::size_t>(r.begin / kBlock)] = sum;
  });
  return sum_in_order(blocks);
}

}  // namespace zerolab::cpu
