// ZeRO-1, P_os. Let Φ be Ψ with its padding at the end, the sum of the buckets, and F what is
// frozen.
//
//   held  parameters p(Φ + F), gradients gΦ; each optimizer state and accumulator 4Φ/N
//         (ZeRO paper, section 5.1)
//   sent  R reduce-scatters of every bucket and one all-gather of every bucket, (N−1)/N·Φ elements
//         each: with one reduction as much as DDP (section 7.2)
#include "experiments/predict/stage_prediction.h"

namespace zerolab {

StagePrediction predict_zero1(const Setting& setting) {
  const std::vector<EqualCuts> buckets = equal_buckets(setting);
  const std::int64_t all = sum_of(buckets);
  const std::int64_t owned = all / setting.ranks();

  StagePrediction result;
  of(result.lasting, Category::kParameters) = setting.p() * (all + frozen_elements(setting));
  of(result.lasting, Category::kGradients) = setting.g() * all;
  add_states(result.lasting, setting, owned);
  add_payload(result.lasting, setting, buckets.front().length);

  for (const auto& [bucket, count] : buckets) {
    add_calls(result.per_step, setting, Traffic::kTraining, CollectiveOp::kReduceScatter,
              setting.types.travelling, bucket, count * setting.reductions);
    add_calls(result.per_step, setting, Traffic::kTraining, CollectiveOp::kAllGather,
              setting.types.parameters, bucket, count);
  }
  return result;
}

}  // namespace zerolab
