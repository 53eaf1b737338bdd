#include "experiments/plan/deepspeed_input.h"

#include "experiments/config/deepspeed/blocks.h"
#include "experiments/config/deepspeed/json_file.h"

namespace zerolab {
namespace {

constexpr std::string_view kParametersTo = "zero_optimization.offload_param.device";
constexpr std::string_view kOptimizerTo = "zero_optimization.offload_optimizer.device";
constexpr std::string_view kOldParameters = "zero_optimization.cpu_offload_param";
constexpr std::string_view kOldOptimizer = "zero_optimization.cpu_offload";
/// What runs refuse and a plan can set beside DeepSpeed's estimate.
constexpr std::string_view kUnderstood[] = {kParametersTo, kOptimizerTo, kOldParameters,
                                            kOldOptimizer};

bool has_batch(const CheckedKeys& keys) {
  return keys.has("train_batch_size") || keys.has("train_micro_batch_size_per_gpu");
}

bool offloads(const CheckedKeys& keys, std::string_view device, std::string_view old_switch) {
  return keys.given<std::string>(device).value_or("none") != "none" ||
         keys.given<bool>(old_switch).value_or(false);
}

}  // namespace

DeepSpeedPlanInput apply_deepspeed_plan(const std::string& path, const GivenOptions& given,
                                        const ModelSpec& model, RunConfig& run) {
  bool assumes_batch = false;
  Overlay overlay(path, [&](const std::string& option) {
    if (option == "--micro-batch" && assumes_batch) return true;
    if (option == "--bucket-mb" && given("--bucket-elements")) return true;
    return given(option);
  });
  const CheckedKeys keys(read_config_file(path), overlay, kUnderstood);
  assumes_batch = !has_batch(keys);
  if (assumes_batch && !given("--micro-batch")) {
    overlay.say(fmt::format("{} has no size of a batch; micro-batches of {} were planned", path,
                            run.micro_batch));
  }
  apply_batch(keys, overlay, run);
  apply_training(keys, overlay, run);
  apply_checkpoints(keys, overlay, model, run);
  apply_precision(keys, overlay, run);
  apply_optimizer(keys, overlay, run);
  apply_zero(keys, overlay, run, Purpose::kTrain);

  DeepSpeedPlanInput input;
  if (keys.has("zero_optimization")) {
    input.stage = static_cast<int>(keys.get<std::int64_t>("zero_optimization.stage"));
  }
  input.offload_parameters = offloads(keys, kParametersTo, kOldParameters);
  input.offload_optimizer = offloads(keys, kOptimizerTo, kOldOptimizer);
  input.notices = overlay.take_notices();
  return input;
}

}  // namespace zerolab
