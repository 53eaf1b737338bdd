#include "experiments/cli/plan_options.h"

#include <algorithm>
#include <cmath>

#include "experiments/cli/run_options.h"
#include "experiments/config/validate.h"
#include "experiments/runner/stage_factory.h"
#include "stages/core/error.h"
#include "stages/core/join.h"

namespace zerolab {
namespace {

constexpr double kMiB = 1 << 20;
constexpr double kMostBucketElements = 4e12;

template <class T>
CLI::Option* add(CLI::App& command, const char* name, T& value, const char* help,
                 const char* type) {
  return command.add_option(name, value, help)->type_name(type);
}

template <class T>
void add_shown(CLI::App& command, const char* name, T& value, const char* help, const char* type) {
  add(command, name, value, help, type)->capture_default_str();
}

void add_model(CLI::App& command, PlanOptions& o) {
  command.option_defaults()->group("Model");
  const std::string models = joined(model_names()) + ", or a Hugging Face config.json";
  command.add_option("--model", o.model.model, models)->type_name("NAME|FILE");
  add(command, "--parameters", o.model.parameters,
      "of a GPT of which only the size is known, 7.5e9", "X");
  add(command, "--layers", o.model.layers, "transformer blocks", "L");
  add(command, "--hidden", o.model.hidden, "hidden size", "H");
  add(command, "--heads", o.model.heads, "attention heads [hidden / 128]", "A");
  add(command, "--vocabulary", o.model.vocabulary, "tokens of the vocabulary [50257]", "V");
  add(command, "--positions", o.model.positions, "learned positions [1024, or --seq]", "S");
}

void add_cluster(CLI::App& command, PlanOptions& o) {
  command.option_defaults()->group("Cluster");
  std::vector<std::string> names;
  for (const DeviceSpec& device : known_devices()) names.push_back(device.name);
  const std::string devices = joined(names) + " [only what is given below is known]";
  command.add_option("--device", o.device, devices)->type_name("NAME");
  add_shown(command, "--ranks", o.run.ranks, "devices", "N");
  add(command, "--ranks-per-node", o.run.ranks_per_node,
      "devices of a node [the device's; 0: all on one node]", "N");
  add(command, "--memory-gb", o.memory_gb, "memory of a device, GB of 1e9 bytes", "GB");
  add(command, "--tflops", o.tflops, "peak of a device, 1e12 operations a second", "X");
  add(command, "--product-tflops", o.product_tflops,
      "what matrix products reach of it [measured ones of the device, else 0.8 of --tflops]", "X");
  add(command, "--memory-bandwidth", o.memory_bandwidth, "of a device's memory, GB/s", "X");
  add(command, "--intra-bandwidth", o.intra_bandwidth,
      "of a device inside its node, one direction, GB/s", "X");
  add(command, "--inter-bandwidth", o.inter_bandwidth,
      "of a device's share of the network, one direction, GB/s", "X");
  add_shown(command, "--intra-latency", o.intra_latency, "of a message inside a node, µs", "X");
  add_shown(command, "--inter-latency", o.inter_latency, "of a message between nodes, µs", "X");
  add_shown(command, "--algorithm", o.algorithm, "how time of collectives is reckoned",
            "fastest|ring|hierarchical|doubling");
}

void add_recipe(CLI::App& command, PlanOptions& o) {
  command.option_defaults()->group("Recipe");
  command.add_option("--config", o.config_file, "a DeepSpeed JSON; options given here beat it")
      ->type_name("FILE");
  add_shown(command, "--stage", o.stage, "ddp, zero1, zero2, zero3, several, or all", "LIST");
  add_shown(command, "--precision", o.run.precision, "of parameters and gradients",
            "fp32|bf16|fp16");
  add(command, "--reduce-dtype", o.run.reduce_dtype,
      "of gradients that travel [that of the precision]", "fp32|bf16|fp16");
  add_shown(command, "--accumulate-dtype", o.run.accumulate_dtype,
            "of sums over micro-batches: fp32, or the precision's own", "fp32|bf16|fp16");
  add_shown(command, "--optimizer", o.run.optimizer.name, "what updates the parameters",
            "adamw|sgd|lamb|muon");
  add_shown(command, "--momentum", o.run.optimizer.momentum, "of sgd; 0 keeps no moments", "X");
  add_shown(command, "--lamb-norms", o.lamb_norms,
            "lamb's norms: of whole tensors, or of each rank's shard of them", "tensor|shard");
  add_shown(command, "--clip", o.run.clip,
            "largest norm of the gradient (0: no clipping); the norm is taken either way", "NORM");
  add_shown(command, "--accounting", o.accounting,
            "whose bytes a parameter: what runs here hold, or published counts",
            "measured|zero|deepspeed|megatron|infinity");
  add_shown(command, "--micro-batch", o.run.micro_batch, "sequences of a rank's micro-batch", "B");
  add(command, "--seq", o.run.sequence, "tokens of a sequence [the model's longest]", "TOKENS");
  add_shown(command, "--accumulate", o.run.accumulate, "micro-batches of a rank in each step", "K");
  add_shown(command, "--accumulation-order", o.accumulation_order,
            "reduce in every micro-batch, or where a stage can in the last one only",
            "local|reduced");
  add_shown(command, "--checkpoint-every", o.run.checkpoint_every,
            "keep the input of so many blocks only, and compute them again in backward (0: keep "
            "all)",
            "BLOCKS");
  add(command, "--activations", o.activations,
      "those of runs here, to the byte, or published formulas of 16-bit GPTs [published for "
      "16 bits on a --device, or with --recompute; else here]",
      "here|published");
  add_shown(command, "--recompute", o.recompute,
            "published activations that backward computes again", "none|selective|full");
  add_shown(command, "--dropout", o.run.dropout, "probability that an activation is dropped", "P");
  add_shown(command, "--padding", o.run.padding, "largest part of a sequence that may be padding",
            "PART");
  add_shown(command, "--skip-block-every", o.run.skip_block_every,
            "bypass one block in every so many micro-batches of a step (0: never)",
            "MICRO-BATCHES");
  add(command, "--bucket-mb", o.run.bucket_mb,
      "MiB of fp32 gradients in a bucket [0.25 for the small presets, else 25]", "MIB");
  add(command, "--bucket-elements", o.bucket_elements, "the same in elements, 5e8", "X");
  add_shown(command, "--overlap", o.overlap, "communicate while backward computes", "on|off");
  add_shown(command, "--reduction", o.reduction, "the order in which bytes are counted",
            "ring|ordered|tree");
}

/// The enumerator whose name was typed. \throws BadInput
template <class E>
E enumerator(const char* option, const std::string& name, int count) {
  std::vector<std::string> known;
  for (int i = 0; i < count; ++i) known.emplace_back(name_of(static_cast<E>(i)));
  require_known(option, name, known);
  return static_cast<E>(std::ranges::find(known, name) - known.begin());
}

void override_with(double& value, double given, double factor) {
  if (given != 0) value = given * factor;
}

Cluster cluster_of(const PlanOptions& o) {
  Cluster cluster;
  if (!o.device.empty()) cluster.device = device_named(o.device);
  DeviceSpec& device = cluster.device;
  override_with(device.memory_bytes, o.memory_gb, 1e9);
  override_with(device.product_flops, o.tflops, 0.8e12);
  override_with(device.product_flops, o.product_tflops, 1e12);
  override_with(device.peak_flops, o.tflops, 1e12);
  override_with(device.memory_bandwidth, o.memory_bandwidth, 1e9);
  override_with(device.intra_bandwidth, o.intra_bandwidth, 1e9);
  override_with(device.inter_bandwidth, o.inter_bandwidth, 1e9);
  cluster.latency = {o.intra_latency * 1e-6, o.inter_latency * 1e-6};
  cluster.ranks = o.run.ranks;
  cluster.ranks_per_node =
      o.given("--ranks-per-node") ? o.run.ranks_per_node : device.ranks_per_node;
  return cluster;
}

/// 0.25 MiB where a model is trained here by `compare`'s defaults, PyTorch's 25 MiB elsewhere.
double default_bucket_mb(const PlannedModel& model) {
  return model.runnable && model.parameters() < 20'000'000 ? RunConfig{}.bucket_mb : 25;
}

std::vector<std::string> stages_of(const std::string& list) {
  if (list == "all") return stage_names();
  std::vector<std::string> stages = split_list(list);
  for (const std::string& stage : stages) {
    require_known("--stage", stage, stage_names());
    if (std::ranges::count(stages, stage) > 1) {
      bad_input("[plan] --stage names {} twice; name each stage once", stage);
    }
  }
  return stages;
}

void set_orders(const PlanOptions& o, RunConfig& run) {
  run.reduction = enumerator<Reduction>("--reduction", o.reduction, 3);
  run.accumulation_order =
      enumerator<AccumulationOrder>("--accumulation-order", o.accumulation_order, 2);
  require_known("--overlap", o.overlap, {"on", "off"});
  run.overlap = o.overlap == "on";
}

void set_bucket(const PlanOptions& o, const PlannedModel& model, RunConfig& run) {
  if (o.given("--bucket-mb") && o.given("--bucket-elements")) {
    bad_input("[plan] --bucket-mb and --bucket-elements say the same thing twice; keep one");
  }
  if (o.given("--bucket-elements")) {
    if (!(o.bucket_elements >= 1 && o.bucket_elements <= kMostBucketElements)) {
      bad_input("[plan] --bucket-elements is {}; give between 1 and {:g}", o.bucket_elements,
                kMostBucketElements);
    }
    run.bucket_mb = o.bucket_elements * 4 / kMiB;
  } else if (!o.given("--bucket-mb")) {
    run.bucket_mb = default_bucket_mb(model);
  }
}

/// 16 bits on a device are a GPU's; without a device the plan is of a run here.
void set_activations(const PlanOptions& o, Recipe& recipe) {
  const bool elsewhere = !o.device.empty() && recipe.run.precision != "fp32";
  const bool published = elsewhere || recipe.recompute != Recompute::kNone;
  recipe.activations = published ? Activations::kPublished : Activations::kHere;
  if (!o.given("--activations")) return;
  recipe.activations = enumerator<Activations>("--activations", o.activations, kActivationsCount);
}

/// What the JSON says, but for what the command line says.
DeepSpeedPlanInput apply_config(const PlanOptions& o, PlanRequest& request) {
  RunConfig& run = request.recipe.run;
  run.stages = request.stages;
  DeepSpeedPlanInput input = apply_deepspeed_plan(
      o.config_file, [&](const std::string& option) { return o.knows(option) && o.given(option); },
      request.model.spec, run);
  request.stages = run.stages;
  return input;
}

}  // namespace

void add_plan_options(CLI::App& command, PlanOptions& options) {
  options.command = &command;
  options.run.ranks = 8;
  options.run.micro_batch = 1;
  add_model(command, options);
  add_cluster(command, options);
  add_recipe(command, options);
}

PlanRequest plan_request(const PlanOptions& options, PlanReport& report) {
  PlanRequest request;
  ModelRequest wanted = options.model;
  if (options.given("--seq") && options.run.sequence < 1) {
    bad_input("[plan] --seq is {}; give at least 1 token, or leave the option out",
              options.run.sequence);
  }
  if (wanted.model.empty() && wanted.positions == 0) {
    wanted.positions = std::max<std::int64_t>(1024, options.run.sequence);
  }
  request.model = planned_model(wanted);
  request.stages = stages_of(options.stage);
  request.recipe.run = options.run;
  request.recipe.accounting =
      enumerator<Accounting>("--accounting", options.accounting, kAccountingCount);
  request.recipe.recompute =
      enumerator<Recompute>("--recompute", options.recompute, kRecomputeCount);
  request.recipe.run.optimizer.lamb_norms =
      enumerator<LambNorms>("--lamb-norms", options.lamb_norms, 2);
  set_orders(options, request.recipe.run);
  set_bucket(options, request.model, request.recipe.run);
  std::vector<std::string>& notices = report.notices;
  if (!options.config_file.empty()) {
    report.deepspeed = apply_config(options, request);
    notices = report.deepspeed->notices;
  }
  set_activations(options, request.recipe);
  request.recipe.run.evaluate_every = 0;  // a plan is of training steps
  request.time.cluster = cluster_of(options);
  request.time.algorithm =
      enumerator<CollectiveAlgorithm>("--algorithm", options.algorithm, kCollectiveAlgorithmCount);
  request.recipe.run.ranks_per_node = static_cast<int>(request.time.cluster.ranks_per_node);
  for (const std::string& notice : request.model.spec.notices) notices.push_back(notice);
  if (!options.device.empty() && request.recipe.run.precision == "fp32" &&
      !options.given("--tflops")) {
    request.time.cluster.device.product_flops = 0;
    notices.emplace_back(
        "a device's rate is known for 16-bit products only, so an fp32 step is not timed; give "
        "--tflops, or --precision bf16");
  }
  return request;
}

}  // namespace zerolab
