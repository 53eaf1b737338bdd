// DDP. Let Φ be Ψ with its padding at the end, the sum of the buckets, and F what is frozen.
//
//   held  parameters p(Φ + F), gradients gΦ, each optimizer state 4Φ, each accumulator 4Φ
//         (ZeRO paper, figure 1, first row)
//   sent  R all-reduces of every bucket: 2(N−1)/N·Φ elements each (section 7.1)
#include "experiments/predict/stage_prediction.h"

namespace zerolab {

StagePrediction predict_ddp(const Setting& setting) {
  const std::vector<EqualCuts> buckets = equal_buckets(setting);
  const std::int64_t all = sum_of(buckets);

  StagePrediction result;
  of(result.lasting, Category::kParameters) = setting.p() * (all + frozen_elements(setting));
  of(result.lasting, Category::kGradients) = setting.g() * all;
  add_states(result.lasting, setting, all);
  add_payload(result.lasting, setting, buckets.front().length);

  for (const auto& [bucket, count] : buckets) {
    add_calls(result.per_step, setting, Traffic::kTraining, CollectiveOp::kAllReduce,
              setting.types.travelling, bucket, count * setting.reductions);
  }
  return result;
}

}  // namespace zerolab
