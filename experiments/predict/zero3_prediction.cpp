// ZeRO-3, P_os+g+p. Let φ(u) be a unit's elements padded to 32·N, Φ their sum; f(u) and F the same
// of what is frozen.
//
//   held     parameters p(Φ + F)/N, gradients gΦ/N, each optimizer state and accumulator 4Φ/N (ZeRO
//            paper, section 5.3)
//   passing  p(φ(u) + f(u)) for each gathered unit, and with overlap for the next one to be read;
//            gφ(u) for the gradient of each unit, from its first backward use until it is reduced
//   sent     K times: all-gathers of φ(u) and f(u) for each run of uses that read u, and a
//            reduce-scatter of each φ(u). Where forward and backward read every unit once (the tied
//            head's two uses are one run) that is 3(N−1)/N·Φ elements (section 7.2.2). Activation
//            checkpoints of k blocks add (k−1)/k·Φ of the blocks: a segment gathers each again to
//            recompute it, and the last one's copy serves its backward too
#include <algorithm>
#include <functional>
#include <iterator>

#include "experiments/predict/stage_prediction.h"
#include "experiments/predict/walk.h"

namespace zerolab {
namespace {

/// Elements of each unit, padded.
struct Lengths {
  std::vector<std::int64_t> trained, frozen;

  std::vector<std::int64_t> whole() const {
    std::vector<std::int64_t> sums;
    std::ranges::transform(trained, frozen, std::back_inserter(sums), std::plus{});
    return sums;
  }
};

/// Nothing travels for a unit that has none.
std::vector<EqualCuts> messages(std::vector<std::int64_t> lengths) {
  std::erase(lengths, 0);
  return equal_ones(std::move(lengths));
}

void add_moments(std::vector<Moment>& all, const Setting& setting, const std::vector<Use>& uses,
                 const Lengths& units) {
  const std::vector<std::int64_t> gathered = gathered_by_use(uses, units.whole(), setting.overlap);
  const std::vector<GradientsAt> gradients = gradients_by_use(uses, units.trained, units.trained);
  for (std::size_t i = 0; i < uses.size(); ++i) {
    for (const std::int64_t gradient : {gradients[i].computing, gradients[i].handing_on}) {
      Moment moment{moment_name(setting, uses[i]), {}};
      of(moment.bytes, Category::kGatheredParameters) = setting.p() * gathered[i];
      of(moment.bytes, Category::kUnitGradients) = setting.g() * gradient;
      all.push_back(std::move(moment));
    }
  }
}

void add_gathers(CommLedger::Table& table, const Setting& setting, const std::vector<Use>& uses,
                 const Lengths& units, std::int64_t times) {
  std::vector<std::int64_t> gathers;
  for (const ReadingRun& run : reading_runs(uses)) {
    gathers.push_back(units.trained[static_cast<std::size_t>(run.unit)]);
    gathers.push_back(units.frozen[static_cast<std::size_t>(run.unit)]);
  }
  for (const auto& [length, count] : messages(std::move(gathers))) {
    add_calls(table, setting, Traffic::kTraining, CollectiveOp::kAllGather,
              setting.types.parameters, length, count * times);
  }
}

}  // namespace

StagePrediction predict_zero3(const Setting& setting) {
  const Lengths units{unit_lengths(setting), frozen_lengths(setting, setting.ranks())};
  const std::int64_t owned = sum_of(units.trained) / setting.ranks();
  const std::int64_t frozen = sum_of(units.frozen) / setting.ranks();

  StagePrediction result;
  of(result.lasting, Category::kParameters) = setting.p() * (owned + frozen);
  of(result.lasting, Category::kGradients) = setting.g() * owned;
  add_states(result.lasting, setting, owned);
  add_payload(result.lasting, setting, *std::ranges::max_element(units.trained));

  for (const auto& [uses, times] : setting.training()) {
    add_moments(result.training, setting, uses, units);
    add_gathers(result.per_step, setting, uses, units, times);
  }
  add_moments(result.evaluation, setting, setting.uses.evaluation, units);
  for (const auto& [length, count] : messages(units.trained)) {
    add_calls(result.per_step, setting, Traffic::kTraining, CollectiveOp::kReduceScatter,
              setting.types.travelling, length, count * setting.micro_batches);
  }
  add_gathers(result.per_held_out, setting, setting.uses.evaluation, units, 1);
  return result;
}

}  // namespace zerolab
