#include "experiments/predict/loop_prediction.h"

#include "experiments/predict/stage_prediction.h"
#include "stages/core/error.h"
#include "stages/model/activation_formula.h"

namespace zerolab {
namespace {

constexpr std::int64_t kMaximumBytes = 4;  // bits of the largest gradient
constexpr std::int64_t kSumFolds = 3;      // fp64 partial sums of the order-free sum

// A maximum and the folds, this rank's and all ranks'; norm and factor in fp32.
std::int64_t norm_bytes(std::int64_t ranks) {
  return (kMaximumBytes + 8 * kSumFolds) * (1 + ranks) + 2 * 4;
}

// fp64: the loss of a micro-batch, and its tokens where they may differ in number.
std::int64_t scalars(bool uneven) { return uneven ? 2 : 1; }

std::int64_t time_of(const RunConfig& config, const GptConfig& gpt) {
  return config.sequence > 0 ? config.sequence : gpt.max_time;
}

}  // namespace

CategoryBytes loop_bytes(const RunConfig& config, const ModelSpec& model, const Setting& setting) {
  const std::int64_t ranks = setting.ranks();
  const std::int64_t batch = config.micro_batch;
  CategoryBytes bytes{};
  std::int64_t& activations = of(bytes, Category::kActivations);
  std::int64_t& workspace = of(bytes, Category::kWorkspace);
  const std::int64_t size = setting.p();
  const bool widened = setting.types.parameters != DType::kFloat32;
  if (model.is_gpt()) {
    const GptConfig& gpt = model.gpt();
    const std::int64_t time = time_of(config, gpt);
    // The CPU's attention keeps a maximum and an inverse sum for each row of each head.
    const std::int64_t saved = 2 * batch * gpt.heads * time;
    activations = gpt_activation_bytes(gpt, batch, time, saved, size, config.checkpoint_every);
    workspace = gpt_workspace_bytes(gpt, batch, time, size);
    if (widened) workspace += 4 * gpt_widening_elements(gpt, batch, time);
    workspace += 2 * 4 * batch * time;  // inputs and targets, int32
  } else {
    const std::int64_t width = model.tied_mlp().width;
    activations = tied_mlp_activation_bytes(kTiedMlpLayers, batch, width, size);
    workspace = tied_mlp_workspace_bytes(batch, width, size);
    if (widened) workspace += 4 * tied_mlp_widening_elements(batch, width);
    workspace += 2 * 4 * batch * width;  // inputs and targets, fp32
  }
  workspace += norm_bytes(ranks);
  // Scalars of each micro-batch: this rank's and all ranks'.
  std::int64_t micro_batches = setting.micro_batches;
  if (config.evaluate_every > 0) micro_batches += held_out_of_rank(config);
  workspace += 8 * scalars(setting.uneven) * micro_batches * (1 + ranks);
  of(bytes, Category::kCommunicationStaging) = staging_bytes(setting.group);
  return bytes;
}

void add_control_per_step(CommLedger::Table& table, const Setting& setting, bool sharded_gradient) {
  const std::int64_t ranks = setting.ranks();
  add_calls(table, setting, Traffic::kControl, CollectiveOp::kAllGather, DType::kFloat64,
            scalars(setting.uneven) * setting.micro_batches * ranks);
  if (!sharded_gradient) return;
  add_calls(table, setting, Traffic::kControl, CollectiveOp::kAllGather, DType::kInt32, ranks);
  add_calls(table, setting, Traffic::kControl, CollectiveOp::kAllGather, DType::kFloat64,
            kSumFolds * ranks);
}

std::int64_t held_out_of_rank(const RunConfig& config) {
  return (config.held_out_batches + config.ranks - 1) / config.ranks;
}

void add_control_per_evaluation(CommLedger::Table& table, const Setting& setting,
                                const RunConfig& config) {
  add_calls(table, setting, Traffic::kControl, CollectiveOp::kAllGather, DType::kFloat64,
            scalars(setting.uneven) * held_out_of_rank(config) * setting.ranks());
}

}  // namespace zerolab
