#include "experiments/config/validate.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "experiments/config/parameter_groups.h"
#include "experiments/runner/stage_factory.h"
#include "stages/core/error.h"
#include "stages/core/join.h"
#include "stages/core/nearest.h"

namespace zerolab {
namespace {

// Far above any use, low enough that no product of sizes overflows 64 bits.
constexpr std::int64_t kLargestCount = 1'000'000'000;
constexpr double kLargestBucketMb = 1 << 20;

void require_between(const char* option, std::int64_t value, std::int64_t least,
                     std::int64_t largest) {
  if (value >= least && value <= largest) return;
  bad_input("[options] {} is {}; give a whole number between {} and {}", option, value, least,
            largest);
}

/// A NaN fails every comparison, so the rules are written as what must hold.
void require_number(const char* option, double value, bool holds, const char* rule) {
  if (holds && std::isfinite(value)) return;
  bad_input("[options] {} is {}; it must be {}", option, value, rule);
}

void validate_stages(const RunConfig& config) {
  if (config.stages.empty()) {
    bad_input("[options] --stages names no stage; known are {}", joined(stage_names()));
  }
  for (std::size_t i = 0; i < config.stages.size(); ++i) {
    require_known("--stages", config.stages[i], stage_names());
    if (std::find(config.stages.begin(), config.stages.begin() + static_cast<std::ptrdiff_t>(i),
                  config.stages[i]) != config.stages.begin() + static_cast<std::ptrdiff_t>(i)) {
      bad_input("[options] --stages names {} twice; name each stage once", config.stages[i]);
    }
  }
}

void validate_world(const RunConfig& config) {
  require_between("--ranks-per-node", config.ranks_per_node, 0, kLargestWorld);
  require_between("--threads", config.threads, 1, kLargestWorld);
  if (config.device != "cpu") {
    bad_input(
        "[options] --device {} was asked for; this build computes on the cpu, leave the "
        "option out",
        config.device);
  }
  if (config.reduction == Reduction::kTree &&
      !std::has_single_bit(static_cast<unsigned>(config.ranks))) {
    bad_input(
        "[options] --reduction tree needs a number of ranks that is a power of two, not {}; "
        "give --ranks {} or --reduction ordered",
        config.ranks, std::bit_floor(static_cast<unsigned>(config.ranks)));
  }
  if (config.reduction == Reduction::kNative && config.comm != "mpi") {
    bad_input(
        "[options] --reduction native is MPI's own reduction, which --comm {} does not have; "
        "start under mpirun with --comm mpi, or use --reduction ring",
        config.comm);
  }
}

void validate_numbers(const RunConfig& config, Purpose purpose) {
  require_between("--steps", config.steps, purpose == Purpose::kCompare ? 1 : 0, kLargestCount);
  require_between("--micro-batch", config.micro_batch, 1, 1 << 20);
  require_between("--accumulate", config.accumulate, 1, 1 << 16);
  require_between("--eval-every", config.evaluate_every, 0, kLargestCount);
  require_number("--clip", config.clip, config.clip >= 0, "a norm of at least 0 (0: no clipping)");
  require_number("--timeout", config.timeout_seconds, config.timeout_seconds > 0,
                 "greater than 0 seconds");
  require_number(
      "--bucket-mb", config.bucket_mb,
      config.bucket_mb > 0 && config.bucket_mb <= kLargestBucketMb && config.bucket_elements() >= 1,
      "a size in MiB that holds at least one fp32 gradient and is at most 1048576");
}

void validate_schedule(const RunConfig& config) {
  const double peak = config.learning_rate;
  require_number("--lr", peak, peak > 0, "greater than 0");
  require_between("--warmup", config.warmup_steps, 0, kLargestCount);
  require_number("--warmup-min-lr", config.warmup_min_lr, config.warmup_min_lr >= 0, "at least 0");
  require_between("--schedule-steps", config.schedule_steps, 0, kLargestCount);
  const double fraction = config.final_lr_fraction;
  require_number("--final-lr-fraction", fraction, fraction >= 0, "at least 0 (1: no decay)");
}

void validate_optimizer(const RunConfig& config, const ModelSpec& model) {
  const OptimizerSettings& optimizer = config.optimizer;
  require_known("--optimizer", optimizer.name, optimizer_names());
  const auto require_share = [](const char* option, double value) {
    require_number(option, value, value >= 0 && value < 1, "at least 0 and less than 1");
  };
  require_share("--beta1", optimizer.beta1);
  require_share("--beta2", optimizer.beta2);
  require_share("--momentum", optimizer.momentum);
  require_share("--muon-momentum", optimizer.muon_momentum);
  require_number("--epsilon", optimizer.epsilon, optimizer.epsilon > 0, "greater than 0");
  require_number("--weight-decay", optimizer.weight_decay, optimizer.weight_decay >= 0,
                 "at least 0");
  require_number("--muon-adamw-lr", config.adamw_learning_rate, config.adamw_learning_rate > 0,
                 "greater than 0");
  const ParameterLayout layout = grouped(layout_of(model), config.groups);
  require_groups_that_train(layout, config.groups);
  const bool hidden = std::ranges::any_of(
      layout.tensors(), [](const TensorSpec& tensor) { return tensor.hidden && !tensor.frozen; });
  if (optimizer.name == "muon" && !hidden) {
    bad_input(
        "[options] --freeze leaves no hidden matrix to train, and muon is for those; choose "
        "--optimizer adamw");
  }
}

void validate_precision(const RunConfig& config) {
  const std::vector<std::string> types = {"fp32", "bf16", "fp16"};
  require_known("--precision", config.precision, types);
  if (!config.reduce_dtype.empty()) require_known("--reduce-dtype", config.reduce_dtype, types);
  require_known("--accumulate-dtype", config.accumulate_dtype, types);
  if (config.accumulate_dtype != "fp32" && config.accumulate_dtype != config.precision) {
    bad_input("[options] --accumulate-dtype is {}; with --precision {} it can be {}",
              config.accumulate_dtype, config.precision,
              config.precision == "fp32" ? "fp32" : "fp32 or " + config.precision);
  }
  const LossScaleSettings& scale = config.loss_scale;
  require_number("--loss-scale", scale.fixed, scale.fixed >= 0, "at least 0 (0: dynamic)");
  require_between("--loss-scale-power", scale.initial_power, 0, 32);
  require_between("--loss-scale-window", scale.window, 1, kLargestCount);
  require_between("--loss-scale-hysteresis", scale.hysteresis, 1, 1000);
  require_number("--loss-scale-min", scale.minimum, scale.minimum > 0, "greater than 0");
  if (config.precision != "fp16" && !(scale == LossScaleSettings{})) {
    bad_input(
        "[options] a loss scale was given, but --precision {} has none; add --precision fp16 "
        "or leave it out",
        config.precision);
  }
}

void validate_sequence(const RunConfig& config, const ModelSpec& model) {
  if (config.sequence == 0) return;
  require_between("--seq", config.sequence, 1, kLargestCount);
  if (!model.is_gpt()) {
    bad_input("[options] --seq {} was given, but {} has no sequences; leave the option out",
              config.sequence, model.name);
  }
  if (config.sequence > model.gpt().max_time) {
    bad_input("[options] --seq {} is longer than the {} positions that {} knows; give at most {}",
              config.sequence, model.gpt().max_time, model.name, model.gpt().max_time);
  }
}

/// A micro-batch that bypasses the only block that trains would have no backward pass.
void require_trained_beside_a_block(const RunConfig& config, const ModelSpec& model) {
  const ParameterLayout layout = layout_of(model);
  std::vector<std::string> trained;
  for (const UnitLayout& unit : layout.units()) {
    if (unit.size > 0) trained.push_back(unit.name);
  }
  const std::int64_t bypassed =
      std::min<std::int64_t>(model.gpt().layers, config.accumulate / config.skip_block_every);
  for (std::int64_t block = 0; block < bypassed; ++block) {
    const std::string name = fmt::format("h.{}", block);
    if (trained != std::vector{name}) continue;
    bad_input(
        "[options] --freeze leaves only {} to train and --skip-block-every bypasses it; leave out "
        "one of the two",
        name);
  }
}

void validate_model_options(const RunConfig& config, const ModelSpec& model) {
  require_number("--dropout", config.dropout, config.dropout >= 0 && config.dropout < 1,
                 "a probability of at least 0 and below 1");
  require_number("--padding", config.padding, config.padding >= 0 && config.padding <= 1,
                 "a part between 0 and 1");
  require_between("--checkpoint-every", config.checkpoint_every, 0, 1 << 20);
  require_between("--skip-block-every", config.skip_block_every, 0, config.accumulate);
  if (model.is_gpt() && config.skip_block_every > 0) require_trained_beside_a_block(config, model);
  if (model.is_gpt()) return;
  const auto refuse = [&](const char* option, bool given, const char* reason) {
    if (given) bad_input("[options] {} {} {}; leave it out", model.name, reason, option);
  };
  refuse("--dropout", config.dropout > 0, "has no dropout, so it cannot take");
  refuse("--padding", config.padding > 0, "has no tokens that could be padding, so it cannot take");
  refuse("--checkpoint-every", config.checkpoint_every > 0,
         "keeps of each layer only what the next one reads, so nothing is saved by");
  refuse("--skip-block-every", config.skip_block_every > 0,
         "has no residual blocks that could be bypassed, so it cannot take");
}

/// ZeRO-2 and ZeRO-3 free a gradient as soon as it is reduced, so nothing is left to add up
/// locally.
void validate_order(const RunConfig& config) {
  if (config.accumulation_order != AccumulationOrder::kLocal || config.accumulate == 1) return;
  for (const std::string& stage : config.stages) {
    if (supports_local_accumulation(stage)) continue;
    bad_input(
        "[options] {} cannot accumulate in local order, because it keeps no full gradient "
        "between micro-batches; use --accumulation-order reduced, or ddp or zero1",
        stage);
  }
}

}  // namespace

void require_known(const char* option, const std::string& name,
                   const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  bad_input("[options] {} does not know '{}'; did you mean '{}'? (known: {})", option, name,
            nearest(name, known), joined(known));
}

void validate_launch(const RunConfig& config) {
  require_known("--comm", config.comm, {"thread", "mpi"});
  require_between("--ranks", config.ranks, 1, kLargestWorld);
}

void validate(const RunConfig& config, const ModelSpec& model, Purpose purpose) {
  validate_launch(config);
  validate_stages(config);
  if (purpose == Purpose::kTrain && config.stages.size() != 1) {
    bad_input("[options] train takes one stage, not {}; zerolab compare runs several",
              config.stages.size());
  }
  validate_world(config);
  validate_numbers(config, purpose);
  validate_schedule(config);
  validate_optimizer(config, model);
  validate_precision(config);
  validate_sequence(config, model);
  validate_model_options(config, model);
  validate_order(config);
}

}  // namespace zerolab
