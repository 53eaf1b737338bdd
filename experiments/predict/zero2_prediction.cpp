// ZeRO-2, P_os+g. Let Φ be Ψ with its padding at the end, the sum of the buckets, and F what is
// frozen.
//
//   held     parameters p(Φ + F); gradients gΦ/N, each optimizer state and accumulator 4Φ/N (ZeRO
//            paper, section 5.2); two buckets with overlap, one without (section 6.2, C_B)
//   passing  the gradient of each unit, from its first backward use until it has moved into the
//            buckets; the tied embedding's through the whole backward pass
//   sent     K reduce-scatters of every bucket (a shard cannot hold an unreduced gradient) and one
//            all-gather of every bucket, (N−1)/N·Φ elements each (section 7.2.1)
#include "experiments/predict/stage_prediction.h"
#include "experiments/predict/walk.h"

namespace zerolab {

StagePrediction predict_zero2(const Setting& setting) {
  const std::vector<EqualCuts> buckets = equal_buckets(setting);
  const std::int64_t all = sum_of(buckets);
  const std::int64_t owned = all / setting.ranks();
  const std::int64_t largest = buckets.front().length;

  StagePrediction result;
  of(result.lasting, Category::kParameters) = setting.p() * (all + frozen_elements(setting));
  of(result.lasting, Category::kGradients) = setting.g() * owned;
  of(result.lasting, Category::kGradientBuckets) =
      setting.g() * largest * (setting.overlap ? 2 : 1);
  add_payload(result.lasting, setting, largest);
  add_states(result.lasting, setting, owned);

  std::vector<std::int64_t> units;
  for (const UnitLayout& unit : setting.layout.units()) units.push_back(unit.size);
  // A unit that the micro-batch does not use is zeroed in the bucket itself.
  const std::vector<std::int64_t> absent(units.size(), 0);
  for (const auto& [uses, times] : setting.training()) {
    const std::vector<GradientsAt> gradients = gradients_by_use(uses, units, absent);
    for (std::size_t i = 0; i < uses.size(); ++i) {
      Moment moment{moment_name(setting, uses[i]), {}};
      of(moment.bytes, Category::kUnitGradients) = setting.g() * gradients[i].computing;
      result.training.push_back(std::move(moment));
    }
  }

  for (const auto& [bucket, count] : buckets) {
    add_calls(result.per_step, setting, Traffic::kTraining, CollectiveOp::kReduceScatter,
              setting.types.travelling, bucket, count * setting.micro_batches);
    add_calls(result.per_step, setting, Traffic::kTraining, CollectiveOp::kAllGather,
              setting.types.parameters, bucket, count);
  }
  return result;
}

}  // namespace zerolab
