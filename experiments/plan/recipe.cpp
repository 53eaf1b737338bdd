#include "experiments/plan/recipe.h"

#include <bit>
#include <cmath>

#include "experiments/config/validate.h"
#include "experiments/runner/run_inputs.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

void require_between(const char* option, std::int64_t value, std::int64_t least,
                     std::int64_t most) {
  if (value >= least && value <= most) return;
  bad_input("[plan] {} is {}; give a whole number between {} and {}", option, value, least, most);
}

void validate_world(const RunConfig& run) {
  require_between("--ranks", run.ranks, 1, kMostPlannedRanks);
  require_between("--ranks-per-node", run.ranks_per_node, 0, kMostPlannedRanks);
  if (run.ranks_per_node > 0 && run.ranks > run.ranks_per_node &&
      run.ranks % run.ranks_per_node != 0) {
    bad_input(
        "[plan] {} ranks do not fill nodes of {} ranks; give a multiple, or another "
        "--ranks-per-node",
        run.ranks, run.ranks_per_node);
  }
  if (run.reduction == Reduction::kTree && !std::has_single_bit(static_cast<unsigned>(run.ranks))) {
    bad_input("[plan] --reduction tree needs a number of ranks that is a power of two, not {}",
              run.ranks);
  }
}

void validate_sizes(const RunConfig& run) {
  require_between("--micro-batch", run.micro_batch, 1, 1 << 20);
  require_between("--accumulate", run.accumulate, 1, 1 << 16);
  require_between("--seq", run.sequence, 0, 1 << 20);
  if (!(std::isfinite(run.bucket_mb) && run.bucket_mb <= 1 << 24 && run.bucket_elements() >= 1)) {
    bad_input(
        "[plan] the bucket size is {} MiB; give one that holds at least one element and is at most "
        "16777216 MiB",
        run.bucket_mb);
  }
}

void validate_sequence(const RunConfig& run, const PlannedModel& model) {
  if (run.sequence == 0 || !model.spec.is_gpt()) return;
  const std::int64_t longest = model.spec.gpt().max_time;
  if (run.sequence <= longest) return;
  bad_input("[plan] --seq {} is longer than the {} positions that {} knows; give at most {}",
            run.sequence, longest, model.name, longest);
}

/// Whatever a run would be refused for, but for the size of its world, which a plan may exceed.
void validate_as_run(RunConfig run, const PlannedModel& model) {
  run.ranks = 1;
  run.ranks_per_node = 0;
  run.stages = {"ddp"};
  run.bucket_mb = RunConfig{}.bucket_mb;
  validate(run, model.spec, Purpose::kTrain);
}

void validate_recomputation(const Recipe& recipe) {
  if (recipe.recompute == Recompute::kNone) return;
  if (recipe.run.checkpoint_every > 0) {
    bad_input(
        "[plan] --recompute {} and checkpoints every {} layers (--checkpoint-every, or "
        "number_checkpoints in the JSON) say the same thing twice; keep one",
        name_of(recipe.recompute), recipe.run.checkpoint_every);
  }
  if (recipe.activations == Activations::kHere) {
    bad_input(
        "[plan] --recompute {} is a formula of published activations; give --checkpoint-every 1, "
        "or leave --activations here out",
        name_of(recipe.recompute));
  }
}

/// What depends on an architecture's tensors, and not on their number alone.
void validate_size_only(const RunConfig& run, const PlannedModel& model) {
  const auto refuse = [&](const std::string& option, const char* needs) {
    bad_input(
        "[plan] {} depends on {}, and {} is only a size; give --model, or --layers and "
        "--hidden",
        option, needs, model.name);
  };
  if (run.optimizer.name == "muon") refuse("--optimizer muon", "the hidden matrices");
  if (run.skip_block_every > 0) refuse("--skip-block-every", "the blocks");
}

constexpr double kMostCountable = 4e18;  // half of what 64 bits hold

/// Bytes on the wire in one step, generously.
double most_sent(const Recipe& recipe, const PlannedModel& model) {
  return 24.0 * static_cast<double>(model.parameters()) * recipe.run.accumulate;
}

/// Bytes of activations and scratch, generously.
double most_activations(const Recipe& recipe, const PlannedModel& model) {
  if (!model.spec.is_gpt()) return 0;
  const GptConfig& gpt = model.spec.gpt();
  const auto time = static_cast<double>(planned_sequence(recipe, model));
  const double rows = static_cast<double>(recipe.run.micro_batch) * time;
  const double block =
      96.0 * static_cast<double>(gpt.channels) + 16.0 * static_cast<double>(gpt.heads) * time;
  return rows *
         (block * static_cast<double>(gpt.layers) + 8.0 * static_cast<double>(gpt.vocabulary));
}

void validate_products(const Recipe& recipe, const PlannedModel& model) {
  if (most_sent(recipe, model) > kMostCountable) {
    bad_input(
        "[plan] {:g} parameters sent {} times a step are more bytes than can be counted; lower "
        "--accumulate",
        static_cast<double>(model.parameters()), recipe.run.accumulate);
  }
  if (most_activations(recipe, model) > kMostCountable) {
    bad_input(
        "[plan] activations of micro-batches of {} sequences of {} tokens are more bytes than can "
        "be counted; lower --micro-batch or --seq",
        recipe.run.micro_batch, planned_sequence(recipe, model));
  }
}

}  // namespace

std::string_view name_of(Accounting accounting) {
  constexpr std::string_view kNames[] = {"measured", "zero", "deepspeed", "megatron", "infinity"};
  return kNames[static_cast<std::size_t>(accounting)];
}

std::string_view name_of(Recompute recompute) {
  constexpr std::string_view kNames[] = {"none", "selective", "full"};
  return kNames[static_cast<std::size_t>(recompute)];
}

std::string_view name_of(Activations activations) {
  return activations == Activations::kHere ? "here" : "published";
}

std::int64_t planned_sequence(const Recipe& recipe, const PlannedModel& model) {
  return sequence_length(recipe.run, model.spec);
}

bool is_countable(const Recipe& recipe, const PlannedModel& model) {
  return most_sent(recipe, model) <= kMostCountable &&
         most_activations(recipe, model) <= kMostCountable;
}

void validate(const Recipe& recipe, const PlannedModel& model) {
  validate_world(recipe.run);
  validate_sizes(recipe.run);
  validate_sequence(recipe.run, model);
  validate_as_run(recipe.run, model);
  validate_recomputation(recipe);
  if (!model.runnable) validate_size_only(recipe.run, model);
  const bool only_mixed =
      recipe.accounting == Accounting::kDeepSpeed || recipe.accounting == Accounting::kInfinity;
  if (only_mixed && recipe.run.precision == "fp32") {
    bad_input("[plan] --accounting {} counts 16-bit parameters only; give --precision bf16 or fp16",
              name_of(recipe.accounting));
  }
  validate_products(recipe, model);
}

}  // namespace zerolab
