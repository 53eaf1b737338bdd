#include "experiments/plan/accounting.h"

#include <algorithm>
#include <cmath>

#include "experiments/predict/optimizer_prediction.h"
#include "experiments/predict/setting.h"
#include "stages/core/error.h"
#include "stages/core/nearest.h"

namespace zerolab {
namespace {

double size(DType dtype) { return static_cast<double>(size_of(dtype)); }

std::string named(DType dtype, const char* what) {
  return fmt::format("{} {}", name_of(dtype), what);
}

/// Parameters and gradients, each in its dtype.
std::vector<StateItem> models(DType parameters, DType gradients) {
  return {{named(parameters, "parameters"), Category::kParameters, size(parameters), 3},
          {named(gradients, "gradients"), Category::kGradients, size(gradients), 2}};
}

StateItem master_weights() { return {"fp32 master weights", Category::kMasterWeights, 4, 1}; }

/// A full copy of the gradient in fp32, which the optimizer reads.
StateItem main_gradients() { return {"fp32 gradients", Category::kAccumulators, 4, 1}; }

void add_moments(std::vector<StateItem>& items, const OptimizerSettings& optimizer) {
  for (const Category state : optimizer_state_categories(optimizer)) {
    items.push_back(
        {state == Category::kSecondMoments ? "fp32 second moments" : "fp32 momentum", state, 4, 1});
  }
}

std::vector<StateItem> measured(const Recipe& recipe, const StateTypes& dtypes) {
  std::vector<StateItem> items = models(dtypes.parameters, dtypes.gradients);
  const int accumulators = accumulator_count(recipe.run);
  if (accumulators > 0) {
    items.push_back({named(dtypes.accumulators, "accumulators"), Category::kAccumulators,
                     accumulators * size(dtypes.accumulators), 1});
  }
  if (dtypes.master_weights) items.push_back(master_weights());
  return items;
}

/// The 16-bit gradient is sharded with the rest in stage 2; in stage 3 it only lives a layer long,
/// and the 16-bit parameter is sharded in its place. Either way 18 bytes are divided by N.
std::vector<StateItem> deepspeed(const StateTypes& dtypes, int stage) {
  std::vector<StateItem> items = models(dtypes.parameters, dtypes.parameters);
  if (stage == 3) items.pop_back();
  items.push_back(main_gradients());
  items.push_back(master_weights());
  return items;
}

/// fp16: the gradient buffer is fp16 and the optimizer reads an fp32 copy; bf16: the buffer itself
/// is fp32, and nothing is copied.
std::vector<StateItem> megatron(const StateTypes& dtypes) {
  const bool copies = dtypes.parameters == DType::kFloat16;
  std::vector<StateItem> items =
      models(dtypes.parameters, copies ? DType::kFloat16 : DType::kFloat32);
  if (copies) items.push_back(main_gradients());
  if (dtypes.master_weights) items.push_back(master_weights());
  return items;
}

}  // namespace

int zero_stage(const std::string& stage) {
  const std::vector<std::string> known = {"ddp", "zero1", "zero2", "zero3"};
  const auto found = std::ranges::find(known, stage);
  if (found == known.end()) {
    bad_input("[plan] there is no stage '{}'; did you mean '{}'?", stage, nearest(stage, known));
  }
  return static_cast<int>(found - known.begin());
}

std::vector<StateItem> state_items(const Recipe& recipe, const std::string& stage) {
  const StateTypes dtypes = state_types(recipe.run);
  const int number = zero_stage(stage);
  std::vector<StateItem> items;
  switch (recipe.accounting) {
    case Accounting::kMeasured:
      items = measured(recipe, dtypes);
      break;
    case Accounting::kZero:
      items = models(dtypes.parameters, dtypes.parameters);
      if (dtypes.master_weights) items.push_back(master_weights());
      break;
    case Accounting::kDeepSpeed:
      items = deepspeed(dtypes, number);
      break;
    case Accounting::kMegatron:
      items = megatron(dtypes);
      break;
    case Accounting::kInfinity:
      items = models(dtypes.parameters, dtypes.parameters);
      items.push_back(master_weights());
      items.push_back(main_gradients());
      break;
  }
  add_moments(items, recipe.run.optimizer);
  return items;
}

double bytes_per_parameter(const std::vector<StateItem>& items) {
  return bytes_per_parameter(items, 0, 1);
}

double bytes_per_parameter(const std::vector<StateItem>& items, int stage, std::int64_t ranks) {
  double sum = 0;
  for (const StateItem& item : items) {
    sum += stage >= item.sharded_from ? item.bytes / static_cast<double>(ranks) : item.bytes;
  }
  return sum;
}

CategoryBytes state_bytes(const std::vector<StateItem>& items, int stage, std::int64_t parameters,
                          std::int64_t ranks) {
  CategoryBytes bytes{};
  for (const StateItem& item : items) {
    const double whole = item.bytes * static_cast<double>(parameters);
    const double held = stage >= item.sharded_from ? whole / static_cast<double>(ranks) : whole;
    bytes[static_cast<std::size_t>(item.category)] += std::llround(held);
  }
  return bytes;
}

}  // namespace zerolab
