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

int accumulator_count(const RunConfig& config) {
  const bool local = config.accumulation_order == AccumulationOrder::kLocal;
  if (config.accumulate == 1 || local) return 0;
  if (config.reduction != Reduction::kTree) return 1;
  int levels = 1;
  for (int k = config.accumulate; k > 1; k /= 2) ++levels;
  return levels;
}

StateTypes state_types(const RunConfig& config) {
  StateTypes types;
  types.parameters = dtype_from_name(config.precision);
  types.master_weights = types.parameters != DType::kFloat32;
  types.travelling =
      config.reduce_dtype.empty() ? types.parameters : dtype_from_name(config.reduce_dtype);
  types.accumulators = dtype_from_name(config.accumulate_dtype);
  const bool adds_up_locally =
      config.accumulate > 1 && config.accumulation_order == AccumulationOrder::kLocal;
  if (adds_up_locally) {
    types.gradients = types.accumulators;
  } else {
    // Gradients that travel in another type than they are computed in are kept in fp32.
    types.gradients = types.travelling == types.parameters ? types.parameters : DType::kFloat32;
  }
  return types;
}

std::vector<TrainingUses> Setting::training() const {
  std::vector<TrainingUses> all = {{uses.training, micro_batches}};
  for (const TrainingUses& other : skipping) {
    all.front().times -= other.times;
    all.push_back(other);
  }
  if (all.front().times == 0) all.erase(all.begin());
  return all;
}

namespace {

// Every M-th micro-batch bypasses a block, each time the next one.
std::vector<TrainingUses> skipping_uses(const RunConfig& config, const ModelSpec& model,
                                        const ParameterLayout& layout,
                                        const std::vector<Use>& all) {
  std::vector<TrainingUses> skipping;
  if (config.skip_block_every == 0) return skipping;
  const std::int64_t bypasses = config.accumulate / config.skip_block_every;
  const std::int64_t blocks = model.gpt().layers;
  for (std::int64_t block = 0; block < std::min(blocks, bypasses); ++block) {
    skipping.push_back({trained_part(without(all, unit_of_block(model, block)), layout),
                        bypasses / blocks + (block < bypasses % blocks ? 1 : 0)});
  }
  return skipping;
}

}  // namespace

Setting make_setting(const RunConfig& config, const ModelSpec& model, int rank) {
  const WireKind wire = config.comm == "mpi" ? WireKind::kMessages : WireKind::kPeerView;
  const bool local = config.accumulation_order == AccumulationOrder::kLocal;
  Setting setting;
  setting.layout = layout_of(model);
  setting.uses = uses_of(model, config.checkpoint_every);
  setting.skipping = skipping_uses(config, model, setting.layout, setting.uses.training);
  setting.uses.training = trained_part(std::move(setting.uses.training), setting.layout);
  setting.uneven = config.padding > 0;
  setting.group = world_shape(config.ranks, config.ranks_per_node, wire, config.reduction);
  setting.rank = rank;
  setting.micro_batches = config.accumulate;
  setting.reductions = local ? 1 : config.accumulate;
  setting.accumulators = accumulator_count(config);
  setting.optimizer = config.optimizer;
  setting.bucket_elements = config.bucket_elements();
  setting.overlap = config.overlap;
  setting.types = state_types(config);
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

std::vector<std::int64_t> frozen_lengths(const Setting& setting, int ranks) {
  std::vector<std::int64_t> lengths;
  for (const UnitLayout& unit : setting.layout.units()) {
    lengths.push_back(round_up(unit.frozen_size, kTensorAlignment * ranks));
  }
  return lengths;
}

std::int64_t frozen_elements(const Setting& setting) { return sum_of(frozen_lengths(setting, 1)); }

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
