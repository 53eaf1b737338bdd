#include "experiments/predict/setting.h"

#include <algorithm>
#include <numeric>

#include "stages/core/error.h"
#include "stages/core/nearest.h"

namespace zerolab {

void check_predictable(const std::string& stage, const RunConfig& config) {
  const std::vector<std::string> stages = {"ddp", "zero1", "zero2", "zero3"};
  if (std::find(stages.begin(), stages.end(), stage) == stages.end()) {
    bad_input("[predict] there is no formula for the stage '{}'; did you mean '{}'?", stage,
              nearest(stage, stages));
  }
  const bool keeps_full_gradient = stage == "ddp" || stage == "zero1";
  const bool local = config.accumulation_order == AccumulationOrder::kLocal;
  if (local && config.accumulate > 1 && !keeps_full_gradient) {
    bad_input("[predict] {} cannot keep unreduced gradients; use the accumulation order 'reduced'",
              stage);
  }
}

// AdamW keeps m and v; SGD its momentum, if it has any (ZeRO paper, section 3.1).
std::vector<Category> optimizer_state_categories(const OptimizerSettings& optimizer) {
  if (optimizer.name == "adamw") return {Category::kFirstMoments, Category::kSecondMoments};
  if (optimizer.name != "sgd") {
    bad_input("[predict] there is no formula for the optimizer '{}'; known are adamw and sgd",
              optimizer.name);
  }
  if (optimizer.momentum == 0) return {};
  return {Category::kFirstMoments};
}

int accumulator_count(const RunConfig& config) {
  const bool local = config.accumulation_order == AccumulationOrder::kLocal;
  if (config.accumulate == 1 || local) return 0;
  if (config.reduction != Reduction::kTree) return 1;
  int levels = 1;
  for (int k = config.accumulate; k > 1; k /= 2) ++levels;
  return levels;
}

Setting make_setting(const RunConfig& config, const ModelSpec& model, int rank) {
  const WireKind wire = config.comm == "mpi" ? WireKind::kMessages : WireKind::kPeerView;
  const bool local = config.accumulation_order == AccumulationOrder::kLocal;
  Setting setting;
  setting.layout = layout_of(model);
  setting.uses = uses_of(model);
  setting.group = world_shape(config.ranks, config.ranks_per_node, wire, config.reduction);
  setting.rank = rank;
  setting.micro_batches = config.accumulate;
  setting.reductions = local ? 1 : config.accumulate;
  setting.accumulators = accumulator_count(config);
  setting.optimizer_states = optimizer_state_categories(config.optimizer);
  setting.bucket_elements = config.bucket_elements();
  setting.overlap = config.overlap;
  return setting;
}

std::vector<EqualCuts> equal_buckets(const Setting& setting) {
  if (setting.bucket_elements < 1) {
    bad_input("[predict] a bucket of {} elements cannot hold a gradient; give at least 1",
              setting.bucket_elements);
  }
  const std::int64_t grain = kTensorAlignment * setting.ranks();
  std::int64_t flat = 0;
  for (const UnitLayout& unit : setting.layout.units()) flat += unit.size;
  flat = round_up(flat, grain);
  const std::int64_t full = round_up(setting.bucket_elements, grain);
  std::vector<EqualCuts> cuts;
  if (flat / full > 0) cuts.push_back({full, flat / full});
  if (flat % full > 0) cuts.push_back({flat % full, 1});
  return cuts;
}

std::vector<std::int64_t> bucket_lengths(const Setting& setting) {
  std::vector<std::int64_t> lengths;
  for (const EqualCuts& cuts : equal_buckets(setting)) {
    lengths.insert(lengths.end(), static_cast<std::size_t>(cuts.count), cuts.length);
  }
  return lengths;
}

std::vector<std::int64_t> unit_lengths(const Setting& setting) {
  std::vector<std::int64_t> lengths;
  for (const UnitLayout& unit : setting.layout.units()) {
    lengths.push_back(round_up(unit.size, kTensorAlignment * setting.ranks()));
  }
  return lengths;
}

std::int64_t sum_of(const std::vector<std::int64_t>& lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
}

std::vector<EqualCuts> equal_ones(std::vector<std::int64_t> lengths) {
  std::ranges::sort(lengths);
  std::vector<EqualCuts> cuts;
  for (const std::int64_t length : lengths) {
    if (cuts.empty() || cuts.back().length != length) cuts.push_back({length, 0});
    ++cuts.back().count;
  }
  return cuts;
}

std::int64_t sum_of(const std::vector<EqualCuts>& cuts) {
  std::int64_t sum = 0;
  for (const EqualCuts& equal : cuts) sum += equal.count * equal.length;
  return sum;
}

Volume operator*(std::int64_t times, const Volume& volume) {
  return {times * volume.calls, times * volume.sent_intra, times * volume.sent_inter,
          times * volume.received_intra, times * volume.received_inter};
}

void add_calls(CommLedger::Table& table, const Setting& setting, Traffic traffic, CollectiveOp op,
               DType dtype, std::int64_t count, std::int64_t times) {
  const Volume one = predicted_volume(setting.group, {op, count, dtype, -1}, setting.rank);
  table[static_cast<std::size_t>(traffic)][static_cast<std::size_t>(op)] += times * one;
}

}  // namespace zerolab
