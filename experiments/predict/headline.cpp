#include "experiments/predict/headline.h"

#include "experiments/predict/optimizer_prediction.h"
#include "experiments/predict/setting.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr Category kStates[] = {Category::kParameters,   Category::kGradients,
                                Category::kAccumulators, Category::kMasterWeights,
                                Category::kFirstMoments, Category::kSecondMoments};

double ring_factor(int ranks) { return static_cast<double>(ranks - 1) / ranks; }

void add_up_states(Headline& headline) {
  for (const Category state : kStates) {
    headline.states_bytes_per_parameter +=
        headline.bytes_per_parameter[static_cast<std::size_t>(state)];
  }
}

}  // namespace

Headline headline(const Prediction& prediction, std::int64_t parameters, int ranks,
                  const StateTypes& types) {
  const auto psi = static_cast<double>(parameters);
  Headline result;
  for (std::size_t i = 0; i < prediction.peak_by_category.size(); ++i) {
    result.bytes_per_parameter[i] = static_cast<double>(prediction.peak_by_category[i]) / psi;
  }
  add_up_states(result);
  // All-gathers move parameters, reductions gradients.
  double sent = 0;
  const auto& table = prediction.per_step[static_cast<std::size_t>(Traffic::kTraining)];
  for (std::size_t op = 0; op < table.size(); ++op) {
    const bool moves_parameters = static_cast<CollectiveOp>(op) == CollectiveOp::kAllGather;
    sent += static_cast<double>(table[op].sent()) /
            static_cast<double>(size_of(moves_parameters ? types.parameters : types.travelling));
  }
  result.volume_in_psi = sent / psi;
  if (ranks > 1) result.passes_over_psi = result.volume_in_psi / ring_factor(ranks);
  return result;
}

Headline paper_headline(const std::string& stage, const RunConfig& config) {
  check_predictable(stage, config);
  const bool local = config.accumulation_order == AccumulationOrder::kLocal;
  const double k = config.accumulate;
  const double r = local ? 1 : k;
  const double share = 1.0 / config.ranks;
  const bool shards_parameters = stage == "zero3";
  const bool shards_gradients = shards_parameters || stage == "zero2";
  const bool shards_states = shards_gradients || stage == "zero1";

  Headline result;
  const auto set = [&](Category category, double bytes, bool sharded) {
    result.bytes_per_parameter[static_cast<std::size_t>(category)] =
        sharded ? bytes * share : bytes;
  };
  const StateTypes types = state_types(config);
  const auto bytes_of = [](DType type) { return static_cast<double>(size_of(type)); };
  set(Category::kParameters, bytes_of(types.parameters), shards_parameters);
  set(Category::kGradients, bytes_of(types.gradients), shards_gradients);
  set(Category::kAccumulators, bytes_of(types.accumulators) * accumulator_count(config),
      shards_states);
  if (types.master_weights) set(Category::kMasterWeights, 4, shards_states);
  for (const Category moment : optimizer_state_categories(config.optimizer)) {
    set(moment, 4, shards_states);
  }
  add_up_states(result);

  const double passes = shards_parameters ? 3 * k : shards_states ? r + 1 : 2 * r;
  result.passes_over_psi = config.ranks > 1 ? passes : 0;
  result.volume_in_psi = result.passes_over_psi * ring_factor(config.ranks);
  return result;
}

}  // namespace zerolab
