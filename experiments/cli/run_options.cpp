#include "experiments/cli/run_options.h"

#include <algorithm>
#include <cctype>

#include "experiments/checks/check_factory.h"
#include "experiments/config/validate.h"
#include "stages/core/error.h"
#include "stages/core/join.h"
#include "stages/model/model_factory.h"

namespace zerolab {
namespace {

/// The enumerator among the first `count` whose name was typed. \throws BadInput
template <class E>
E enumerator(const char* option, const std::string& name, int count) {
  std::vector<std::string> known;
  for (int i = 0; i < count; ++i) known.emplace_back(name_of(static_cast<E>(i)));
  require_known(option, name, known);
  for (int i = 0; i < count; ++i) {
    if (known[static_cast<std::size_t>(i)] == name) return static_cast<E>(i);
  }
  return E{};
}

template <class T>
CLI::Option* add(CLI::App& command, const char* name, T& value, const char* help,
                 const char* type) {
  return command.add_option(name, value, help)->type_name(type)->capture_default_str();
}

void add_world_options(CLI::App& command, RunConfig& c) {
  command.option_defaults()->group("World");
  add(command, "--ranks", c.ranks, "ranks (under mpirun: the number of processes)", "N");
  add(command, "--comm", c.comm, "ranks are threads of this process, or MPI processes",
      "thread|mpi");
  add(command, "--device", c.device, "where the ranks compute", "cpu");
  add(command, "--threads", c.threads, "kernel threads of each rank", "N");
  add(command, "--ranks-per-node", c.ranks_per_node,
      "count bytes within and between nodes of so many ranks apart (0: all on one node)", "N");
  add(command, "--timeout", c.timeout_seconds,
      "seconds that a rank waits for the others before the run is ended", "SECONDS");
}

void add_model_options(CLI::App& command, RunConfig& c) {
  command.option_defaults()->group("Model and data");
  const std::string models = joined(model_names()) + ", or a Hugging Face config.json";
  command.add_option("--model", c.model, models)->type_name("NAME|FILE")->capture_default_str();
  command
      .add_option("--data", c.data,
                  "files to read, as bytes or llm.c's .bin [the corpus of the repository]")
      ->type_name("FILE...")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->expected(1, -1);
  add(command, "--seq", c.sequence, "tokens of a sequence (0: the model's longest)", "TOKENS");
  add(command, "--padding", c.padding,
      "largest part of a sequence that may be padding, whose tokens do not count; drawn for each",
      "PART");
  command
      .add_option("--load-weights", c.load_weights,
                  "start from this safetensors file [weights drawn from --seed]")
      ->type_name("FILE");
}

void add_training_options(CLI::App& command, RunConfig& c) {
  command.option_defaults()->group("Training");
  add(command, "--steps", c.steps, "optimizer steps", "N");
  add(command, "--micro-batch", c.micro_batch, "sequences of a rank's micro-batch", "B");
  add(command, "--accumulate", c.accumulate, "micro-batches of a rank in each step", "K");
  add(command, "--precision", c.precision,
      "of parameters, activations and gradients; 16 bits keep fp32 master weights and moments",
      "fp32|bf16|fp16");
  add(command, "--accumulate-dtype", c.accumulate_dtype,
      "of sums over micro-batches: fp32, or the precision's own", "fp32|bf16|fp16");
  add(command, "--loss-scale", c.loss_scale.fixed, "fp16: a fixed loss scale (0: dynamic)", "X");
  add(command, "--loss-scale-power", c.loss_scale.initial_power,
      "fp16: a dynamic loss scale starts at 2 to this power", "N");
  add(command, "--loss-scale-window", c.loss_scale.window,
      "fp16: steps without overflow until the loss scale doubles", "STEPS");
  add(command, "--loss-scale-hysteresis", c.loss_scale.hysteresis,
      "fp16: overflows until the loss scale first halves", "N");
  add(command, "--loss-scale-min", c.loss_scale.minimum, "fp16: smallest dynamic loss scale", "X");
  add(command, "--clip", c.clip, "largest norm of the gradient (0: no clipping)", "NORM");
  command
      .add_option("--dropout", c.dropout,
                  "probability that an activation is dropped in training [0, or what the model's "
                  "config.json says]")
      ->type_name("P");
  add(command, "--checkpoint-every", c.checkpoint_every,
      "keep the input of so many blocks only, and compute them again in backward (0: keep all)",
      "BLOCKS");
  add(command, "--skip-block-every", c.skip_block_every,
      "bypass one block in every so many micro-batches of a step (0: never)", "MICRO-BATCHES");
  add(command, "--seed", c.seed, "of weights, of dropout and of the order of the data", "N");
  add(command, "--eval-every", c.evaluate_every, "steps between held-out losses (0: none)",
      "STEPS");
}

void add_schedule_options(CLI::App& command, RunOptions& o) {
  command.option_defaults()->group("Learning rate");
  o.schedule = name_of(o.config.decay);
  o.warmup_shape = name_of(o.config.warmup_shape);
  add(command, "--lr", o.config.learning_rate, "peak learning rate", "X");
  add(command, "--warmup", o.config.warmup_steps,
      "steps until the learning rate has reached its peak", "STEPS");
  add(command, "--warmup-shape", o.warmup_shape, "how the learning rate rises", "linear|log");
  add(command, "--warmup-min-lr", o.config.warmup_min_lr, "learning rate that warm-up rises from",
      "X");
  add(command, "--schedule", o.schedule, "how the learning rate falls after warm-up",
      "constant|linear|cosine");
  add(command, "--final-lr-fraction", o.config.final_lr_fraction,
      "part of the peak that the learning rate falls to", "X");
  add(command, "--schedule-steps", o.config.schedule_steps,
      "step at which it has fallen (0: the last one)", "STEPS");
}

/// One value each time that the option is given.
void add_repeated(CLI::App& command, const char* option, std::vector<std::string>& values,
                  const char* what, const char* type) {
  command.add_option(option, values, what)
      ->type_name(type)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_optimizer_options(CLI::App& command, RunOptions& o) {
  command.option_defaults()->group("Optimizer");
  OptimizerSettings& optimizer = o.config.optimizer;
  o.lamb_norms = name_of(optimizer.lamb_norms);
  add(command, "--optimizer", optimizer.name,
      "each wants an --lr of its own: about 1e-3 for adamw, 0.1 for sgd, 0.03 for lamb, 0.02 for "
      "muon",
      "adamw|sgd|lamb|muon");
  add(command, "--weight-decay", optimizer.weight_decay, "of matrices", "X");
  add(command, "--beta1", optimizer.beta1, "decay of first moments (all but sgd)", "X");
  add(command, "--beta2", optimizer.beta2, "decay of second moments (all but sgd)", "X");
  add(command, "--epsilon", optimizer.epsilon, "added to the root of second moments (all but sgd)",
      "X");
  add(command, "--momentum", optimizer.momentum, "of sgd", "X");
  add(command, "--muon-momentum", optimizer.muon_momentum, "of muon's hidden matrices", "X");
  add(command, "--muon-adamw-lr", o.config.adamw_learning_rate,
      "peak learning rate of what muon leaves to AdamW: all but hidden matrices", "X");
  add(command, "--lamb-norms", o.lamb_norms,
      "lamb's norms: of whole tensors, or of each rank's shard of them, which makes every cut "
      "another optimizer",
      "tensor|shard");
  add_repeated(command, "--param-group", o.config.groups,
               "tensors whose names match the glob learn at X times the rate and decay by Y; the "
               "first match counts; may be repeated",
               "PATTERN:lr=X,decay=Y");
  add_repeated(command, "--freeze", o.config.frozen,
               "tensors whose names match the glob are not trained: no gradient, no optimizer "
               "state; may be repeated",
               "PATTERN");
}

void add_reduction_options(CLI::App& command, RunOptions& o) {
  command.option_defaults()->group("Reduction");
  o.reduction = name_of(o.config.reduction);
  o.accumulation_order = name_of(o.config.accumulation_order);
  o.overlap = o.config.overlap ? "on" : "off";
  add(command, "--reduction", o.reduction, "the order in which gradients are summed",
      "ordered|tree|ring|native");
  command
      .add_option("--reduce-dtype", o.config.reduce_dtype,
                  "of the gradients that travel [that of --precision]")
      ->type_name("fp32|bf16|fp16");
  add(command, "--accumulation-order", o.accumulation_order,
      "sum over ranks in every micro-batch, or in the last one only; usual: ddp and zero1 in the "
      "last, zero2 and zero3, which cannot, in every one",
      "reduced|local|usual");
  add(command, "--overlap", o.overlap, "communicate while backward computes", "on|off");
  add(command, "--bucket-mb", o.config.bucket_mb, "MiB of gradients in a bucket, counted in fp32",
      "MIB");
}

void add_check_options(CLI::App& command, RunOptions& o) {
  command.option_defaults()->group("Checks");
  o.checks.clear();
  for (const std::string& check : o.config.checks) {
    o.checks += (o.checks.empty() ? "" : ",") + check;
  }
  if (o.checks.empty()) o.checks = "none";
  add(command, "--check", o.checks,
      "detectors, or none; REF XR NORM INV PROV COMM MEM, and on request ORD REP IG", "LIST");
  command
      .add_option("--jitter", o.config.jitter,
                  "seed (from 1) of delays at every wait and operation, with NaN in freed memory "
                  "[no delays]")
      ->type_name("SEED");
}

void add_output_options(CLI::App& command, RunOptions& o) {
  command.option_defaults()->group("Output");
  command
      .add_option("--out", o.config.out, "directory to write, which must not exist yet [runs/NNN]")
      ->type_name("DIR");
  command.add_flag("--trace", o.config.trace, "also write a Perfetto trace (trace.json)");
  add(command, "--plots", o.plots, "draw the curves with matplotlib, which takes some seconds",
      "on|off");
  command.add_flag("--quiet", o.quiet, "no progress");
}

}  // namespace

void add_run_options(CLI::App& command, RunOptions& options) {
  options.command = &command;
  add_world_options(command, options.config);
  add_model_options(command, options.config);
  add_training_options(command, options.config);
  add_schedule_options(command, options);
  add_optimizer_options(command, options);
  add_reduction_options(command, options);
  add_check_options(command, options);
  add_output_options(command, options);
}

void add_config_option(CLI::App& command, RunOptions& options) {
  command
      .add_option("--config", options.config.config_file,
                  "a DeepSpeed JSON; other options of this command line beat it [none]")
      ->type_name("FILE")
      ->group("Training");
}

std::vector<std::string> split_list(const std::string& list) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t comma = list.find(',', begin);
    parts.push_back(list.substr(begin, comma - begin));
    if (comma == std::string::npos) return parts;
    begin = comma + 1;
  }
}

void apply_needs(RunOptions& options, const std::vector<std::string>& needs) {
  for (const std::string& need : needs) {
    const std::size_t space = need.find(' ');
    const std::string name = need.substr(0, space);
    const std::string value = need.substr(space + 1);
    if (name == "--check") {
      options.checks = options.checks == "none" ? value : options.checks + "," + value;
    } else if (CLI::Option* option = options.command->get_option(name); option->count() == 0) {
      option->add_result(value);
      option->run_callback();
    }
  }
}

std::vector<std::string> parse_checks(const std::string& list) {
  if (list == "none") return {};
  std::vector<std::string> names;
  for (std::string name : split_list(list)) {
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    require_known("--check", name, check_names());
    // A check that is named twice runs once.
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  // Repeated runs are compared by the fingerprints of the first.
  const auto has = [&](const char* name) { return std::ranges::find(names, name) != names.end(); };
  if ((has("REP") || has("IG")) && !has("REF")) names.insert(names.begin(), "REF");
  return names;
}

RunConfig run_config(const RunOptions& options) {
  RunConfig config = options.config;
  if (!options.stages.empty()) config.stages = split_list(options.stages);
  config.checks = parse_checks(options.checks);
  config.reduction = enumerator<Reduction>("--reduction", options.reduction, 4);
  require_known("--accumulation-order", options.accumulation_order, {"reduced", "local", "usual"});
  config.usual_order = options.accumulation_order == "usual";
  if (options.accumulation_order == "local") config.accumulation_order = AccumulationOrder::kLocal;
  config.decay = enumerator<Decay>("--schedule", options.schedule, kDecayCount);
  config.warmup_shape =
      enumerator<WarmupShape>("--warmup-shape", options.warmup_shape, kWarmupShapeCount);
  config.optimizer.lamb_norms = enumerator<LambNorms>("--lamb-norms", options.lamb_norms, 2);
  require_known("--overlap", options.overlap, {"on", "off"});
  config.overlap = options.overlap == "on";
  require_known("--plots", options.plots, {"on", "off"});
  if (options.given("--seq") && config.sequence < 1) {
    bad_input("[options] --seq is {}; give at least 1 token, or leave the option out",
              config.sequence);
  }
  if (options.given("--jitter") && config.jitter == 0) {
    bad_input("[options] --jitter is 0; give a seed of at least 1, or leave the option out");
  }
  if (options.given("--out") && config.out.empty()) {
    bad_input("[options] --out is empty; name a directory, or leave the option out");
  }
  config.poison = config.jitter != 0;
  return config;
}

}  // namespace zerolab
