// DDP. Let Φ be Ψ with its padding at the end: the sum of the buckets.
//
//   held  parameters 4Φ, gradients 4Φ, each optimizer state 4Φ, each accumulator 4Φ
//         (ZeRO paper, figure 1, first row)
//   sent  R all-reduces of every bucket: 2(N−1)/N·Φ elements each (section 7.1)
#include "experiments/predict/stage_prediction.h"

namespace zerolab {

StagePrediction predict_ddp(const Setting& setting) {
  const std::vector<EqualCuts> buckets = equal_buckets(setting);
  const std::int64_t all = sum_of(buckets);

  StagePrediction result;
  of(result.lasting, Category::kParameters) = 4 * all;
  of(result.lasting, Category::kGradients) = 4 * all;
  add_states(result.lasting, setting, all);

  for (const auto& [bucket, count] : buckets) {
    add_calls(result.per_step, setting, Traffic::kTraining, CollectiveOp::kAllReduce,
              DType::kFloat32, bucket, count * setting.reductions);
  }
  return result;
}

}  // namespace zerolab
