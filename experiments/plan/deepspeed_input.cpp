#include "experiments/plan/deepspeed_input.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/report/json_fields.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

/// Present, and neither null nor Hugging Face's "auto".
bool has(const JsonField& object, const char* key) {
  if (!object.has(key) || object[key].is_null()) return false;
  const Json& value = object[key].value();
  return !(value.is_string() && value.get<std::string>() == "auto");
}

/// DeepSpeed's counts may be written as 5e8.
std::optional<std::int64_t> count(const JsonField& object, const char* key) {
  if (!has(object, key)) return std::nullopt;
  const double number = object[key].number();
  if (!(number >= 1 && number <= 1e15 && number == std::floor(number))) {
    object[key].reject("a whole number of at least 1");
  }
  return static_cast<std::int64_t>(number);
}

bool enabled(const JsonField& root, const char* block) {
  return has(root, block) && has(root[block], "enabled") && root[block]["enabled"].boolean();
}

bool offloads(const JsonField& zero, const char* block) {
  if (!has(zero, block)) return false;
  return has(zero[block], "device") && zero[block]["device"].text() != "none";
}

std::string optimizer_of(const JsonField& type) {
  std::string name = type.text();
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name == "adam" || name == "adamw") return "adamw";
  if (name == "sgd") return "sgd";
  type.reject("Adam, AdamW or SGD");
}

void read_zero(const JsonField& zero, DeepSpeedPlanInput& input) {
  if (has(zero, "stage")) {
    const std::int64_t stage = zero["stage"].integer();
    if (stage < 0 || stage > 3) zero["stage"].reject("0, 1, 2 or 3");
    input.stage = static_cast<int>(stage);
  }
  input.overlap = input.stage == 3;
  if (has(zero, "overlap_comm")) input.overlap = zero["overlap_comm"].boolean();
  input.bucket_elements = count(zero, "reduce_bucket_size").value_or(input.bucket_elements);
  input.offload_parameters = offloads(zero, "offload_param");
  input.offload_optimizer = offloads(zero, "offload_optimizer");
}

}  // namespace

DeepSpeedPlanInput read_deepspeed_plan(const std::string& path) {
  const Json json = read_json_file(path, std::int64_t{1} << 24);
  const JsonField root(json, path);
  DeepSpeedPlanInput input;
  if (enabled(root, "fp16")) input.precision = "fp16";
  if (enabled(root, "bf16") || enabled(root, "bfloat16")) {
    if (input.precision == "fp16") {
      bad_input("[plan] {} enables fp16 and bf16; keep one", path);
    }
    input.precision = "bf16";
  }
  input.train_batch = count(root, "train_batch_size");
  input.micro_batch = count(root, "train_micro_batch_size_per_gpu");
  input.accumulate = count(root, "gradient_accumulation_steps");
  if (has(root, "optimizer") && has(root["optimizer"], "type")) {
    input.optimizer = optimizer_of(root["optimizer"]["type"]);
  }
  if (has(root, "communication_data_type")) {
    input.communication_dtype = root["communication_data_type"].text();
  }
  if (has(root, "zero_optimization")) read_zero(root["zero_optimization"], input);
  return input;
}

void apply(const DeepSpeedPlanInput& input, const std::vector<std::string>& given, Recipe& recipe) {
  const auto free = [&](const char* option) {
    return std::ranges::find(given, option) == given.end();
  };
  RunConfig& run = recipe.run;
  if (free("--precision")) run.precision = input.precision;
  if (free("--optimizer") && input.optimizer) run.optimizer.name = *input.optimizer;
  if (free("--reduce-dtype")) run.reduce_dtype = input.communication_dtype;
  if (free("--overlap") && input.overlap) run.overlap = *input.overlap;
  if (free("--bucket-mb") && free("--bucket-elements")) {
    run.bucket_mb = static_cast<double>(input.bucket_elements) * 4 / (1 << 20);
  }
  std::optional<std::int64_t> micro = input.micro_batch, steps = input.accumulate;
  if (!free("--micro-batch")) micro = run.micro_batch;
  if (!free("--accumulate")) steps = run.accumulate;
  const std::int64_t ranks = run.ranks;
  if (input.train_batch && !micro && !steps) steps = 1;
  if (input.train_batch && !micro) micro = *input.train_batch / (*steps * ranks);
  if (input.train_batch && !steps && *micro >= 1) steps = *input.train_batch / (*micro * ranks);
  run.micro_batch = micro.value_or(run.micro_batch);
  run.accumulate =
      static_cast<int>(std::min<std::int64_t>(steps.value_or(run.accumulate), 1 << 20));
  if (input.train_batch && *input.train_batch != run.micro_batch * run.accumulate * ranks) {
    bad_input(
        "[plan] the JSON's train_batch_size {} is not micro-batch {} x accumulation {} x {} ranks; "
        "change one of them, or --ranks",
        *input.train_batch, run.micro_batch, run.accumulate, ranks);
  }
}

}  // namespace zerolab
