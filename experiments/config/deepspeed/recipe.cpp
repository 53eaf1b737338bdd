// Gradient clipping, precision, checkpoints of activations, and the block "zero_optimization".
#include <algorithm>
#include <limits>

#include "experiments/config/deepspeed/blocks.h"
#include "stages/core/join.h"

namespace zerolab {
namespace {

constexpr const char* kParts = "activation_checkpointing.number_checkpoints";

/// Every how many blocks activations are kept so that the model falls into `parts`.
int blocks_in_part(const ModelSpec& model, std::int64_t parts) {
  const std::int64_t blocks = model.is_gpt() ? model.gpt().layers : kTiedMlpLayers;
  return static_cast<int>((blocks + parts - 1) / parts);
}

/// "fp16" when a block that is on says so.
std::string precision_of(const CheckedKeys& keys) {
  const bool fp16 = keys.has("fp16") && keys.get<bool>("fp16.enabled");
  const bool bf16 = (keys.has("bf16") && keys.get<bool>("bf16.enabled")) ||
                    (keys.has("bfloat16") && keys.get<bool>("bfloat16.enabled"));
  if (fp16 && bf16) keys.reject("fp16.enabled", "bf16 is enabled, too; enable one of them");
  return fp16 ? "fp16" : bf16 ? "bf16" : "fp32";
}

void apply_loss_scale(const CheckedKeys& keys, Overlay& overlay, LossScaleSettings& scale) {
  const auto set_number = [&](const char* option, double& field, const char* key) {
    overlay.set(option, field, keys.get<double>(key), key);
  };
  const auto set_count = [&](const char* option, int& field, const char* key) {
    const auto value = keys.get<std::int64_t>(key);
    if (value > std::numeric_limits<int>::max()) keys.reject(key, "give a smaller number");
    overlay.set(option, field, static_cast<int>(value), key);
  };
  set_number("--loss-scale", scale.fixed, "fp16.loss_scale");
  set_count("--loss-scale-power", scale.initial_power, "fp16.initial_scale_power");
  constexpr const char* kWindow = "fp16.loss_scale_window";
  overlay.set("--loss-scale-window", scale.window, keys.get<std::int64_t>(kWindow), kWindow);
  set_count("--loss-scale-hysteresis", scale.hysteresis, "fp16.hysteresis");
  scale.consecutive_hysteresis = keys.get<bool>("fp16.consecutive_hysteresis");
  set_number("--loss-scale-min", scale.minimum, "fp16.min_loss_scale");
}

std::string stage_named(std::int64_t stage) {
  return stage == 0 ? "ddp" : fmt::format("zero{}", stage);
}

}  // namespace

void apply_training(const CheckedKeys& keys, Overlay& overlay, RunConfig& config) {
  constexpr const char* kClip = "gradient_clipping";
  if (const auto clip = keys.given<double>(kClip)) overlay.set("--clip", config.clip, *clip, kClip);
  constexpr const char* kPayload = "communication_data_type";
  if (const auto dtype = keys.given<std::string>(kPayload)) {
    overlay.set("--reduce-dtype", config.reduce_dtype, *dtype, kPayload);
  }
  constexpr const char* kSum = "data_types.grad_accum_dtype";
  if (const auto dtype = keys.given<std::string>(kSum)) {
    overlay.set("--accumulate-dtype", config.accumulate_dtype, *dtype, kSum);
  }
}

bool has_checkpoints(const CheckedKeys& keys) { return keys.has(kParts); }

void apply_checkpoints(const CheckedKeys& keys, Overlay& overlay, const ModelSpec& model,
                       RunConfig& config) {
  if (const auto parts = keys.given<std::int64_t>(kParts)) {
    overlay.set("--checkpoint-every", config.checkpoint_every, blocks_in_part(model, *parts),
                kParts);
  }
}

void apply_precision(const CheckedKeys& keys, Overlay& overlay, RunConfig& config) {
  const std::string precision = precision_of(keys);
  if (keys.has("fp16") || keys.has("bf16") || keys.has("bfloat16")) {
    overlay.set("--precision", config.precision, precision,
                precision == "fp16" ? "fp16.enabled" : "bf16.enabled");
  }
  if (precision == "fp16" && config.precision == "fp16") {
    apply_loss_scale(keys, overlay, config.loss_scale);
  }
  constexpr const char* kParameters = "data_types.param_dtype";
  const auto parameters = keys.given<std::string>(kParameters);
  if (parameters && *parameters != config.precision) {
    keys.reject(kParameters,
                fmt::format("parameters are {}; write the same, or choose it with fp16 or bf16",
                            config.precision));
  }
}

void apply_zero(const CheckedKeys& keys, Overlay& overlay, RunConfig& config, Purpose purpose) {
  if (!keys.has("zero_optimization")) return;
  constexpr const char* kStage = "zero_optimization.stage";
  const auto stage = keys.get<std::int64_t>(kStage);
  if (stage > 3) keys.reject(kStage, "give 0 (ddp), 1, 2 or 3");
  std::vector<std::string> stages = {stage_named(stage)};
  const bool compares = purpose == Purpose::kCompare;
  if (compares && stage == 0) stages = RunConfig().stages;
  if (compares && stage > 0) stages.insert(stages.begin(), "ddp");
  overlay.set(compares ? "--stages" : "--stage", config.stages, stages, kStage,
              [](const std::vector<std::string>& names) { return joined(names); });
  if (compares && !overlay.given("--stages")) {
    overlay.say(fmt::format("{} were compared, as {} of {} is {}; --stages names others",
                            joined(stages), kStage, overlay.file(), stage));
  }
  constexpr const char* kBucket = "zero_optimization.reduce_bucket_size";
  constexpr double kBytesOfElement = 4, kMiB = 1 << 20;
  constexpr double kElementsOfAnyModel = 1e11;  // a bucket is never larger than the model
  overlay.set("--bucket-mb", config.bucket_mb,
              std::min(keys.get<double>(kBucket), kElementsOfAnyModel) * kBytesOfElement / kMiB,
              kBucket);
  constexpr const char* kOverlap = "zero_optimization.overlap_comm";
  overlay.set("--overlap", config.overlap, keys.given<bool>(kOverlap).value_or(stage == 3),
              kOverlap, [](bool on) { return on ? "on" : "off"; });
}

}  // namespace zerolab
