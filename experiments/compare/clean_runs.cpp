#include "experiments/compare/clean_runs.h"

#include <algorithm>

#include "experiments/compare/checked_run.h"
#include "experiments/compare/permuted_order.h"
#include "experiments/compare/perturbed_terms.h"
#include "experiments/compare/perturbed_weights.h"
#include "experiments/runner/run_inputs.h"
#include "experiments/runner/stage_factory.h"

namespace zerolab {
namespace {

constexpr int kPermutedRuns = 3;
constexpr int kPerturbedRuns = 2;

/// The reference's inputs without checks, pictures and held-out losses.
RunInputs bare(const RunInputs& inputs, const PlannedRun& reference) {
  RunInputs own = inputs_of(inputs, reference);
  own.config.checks.clear();
  own.config.trace = false;
  own.config.evaluate_every = 0;
  return own;
}

bool turns_matter(const RunConfig& config) {
  return config.accumulate > 1 && config.skip_block_every > 0;
}

/// Which micro-batch takes the place of which; number m·N + r is rank r's in turn m.
std::vector<std::vector<std::int64_t>> other_orders(const RunConfig& config) {
  const std::int64_t ranks = config.ranks;
  if (!turns_matter(config)) {
    return permuted_orders(ranks * config.accumulate, kPermutedRuns, config.seed);
  }
  std::vector<std::vector<std::int64_t>> orders;
  for (const auto& of_ranks : permuted_orders(ranks, kPermutedRuns, config.seed)) {
    std::vector<std::int64_t>& order = orders.emplace_back();
    for (std::int64_t turn = 0; turn < config.accumulate; ++turn) {
      for (const std::int64_t rank : of_ranks) order.push_back(turn * ranks + rank);
    }
  }
  return orders;
}

using Disturbance = StageFactory (*)(StageFactory clean, double relative, std::uint64_t seed);

/// `own` is bare. Every run has a seed of its own.
std::vector<std::vector<StepRecord>> disturbed_runs(World& world, const RunInputs& own,
                                                    const PlannedRun& reference, double relative,
                                                    Disturbance disturb) {
  std::vector<std::vector<StepRecord>> runs;
  for (std::uint64_t i = 1; i <= kPerturbedRuns; ++i) {
    StageRun run = stage_run(reference);
    run.factory = disturb(run.factory, relative, own.config.seed + i);
    runs.push_back(run_stage(world, own, run).steps());
  }
  return runs;
}

}  // namespace

bool order_is_open(const RunConfig& config) {
  return config.ranks > 2 &&
         (config.reduction == Reduction::kRing || config.reduction == Reduction::kNative);
}

bool order_is_open(const RunConfig& config, const PlannedRun& a, const PlannedRun& b) {
  if (!order_is_open(config)) return false;
  if (config.reduction == Reduction::kNative) return true;
  // Nobody knows how a reader's own stage cuts.
  const bool cuts_differ = a.own() || b.own() || uses_buckets(a.stage) != uses_buckets(b.stage);
  return cuts_differ;
}

bool has_other_orders(const RunConfig& config) {
  return config.ranks * (turns_matter(config) ? 1 : config.accumulate) > 2;
}

std::vector<std::vector<StepRecord>> permuted_runs(World& world, const RunInputs& inputs,
                                                   const PlannedRun& reference) {
  RunInputs own = bare(inputs, reference);
  std::vector<std::vector<StepRecord>> runs;
  for (const auto& order : other_orders(own.config)) {
    const PermutedOrder data(*inputs.data, order);
    own.data = &data;
    runs.push_back(run_stage(world, own, stage_run(reference)).steps());
  }
  return runs;
}

std::vector<std::vector<StepRecord>> perturbed_runs(World& world, const RunInputs& inputs,
                                                    const PlannedRun& reference) {
  const RunInputs own = bare(inputs, reference);
  const double relative = product_perturbation(
      longest_product(own.model, own.config.micro_batch, sequence_length(own.config, own.model)));
  return disturbed_runs(world, own, reference, relative, from_perturbed_weights);
}

std::vector<std::vector<StepRecord>> bounded_runs(World& world, const RunInputs& inputs,
                                                  const PlannedRun& reference, double relative) {
  return disturbed_runs(world, bare(inputs, reference), reference, relative, with_perturbed_terms);
}

std::vector<StepRecord> bare_run(World& world, const RunInputs& inputs,
                                 const PlannedRun& reference) {
  return run_stage(world, bare(inputs, reference), stage_run(reference)).steps();
}

std::int64_t longest_product(const ModelSpec& model, std::int64_t micro_batch, std::int64_t time) {
  if (!model.is_gpt()) return std::max(model.tied_mlp().width, micro_batch);
  const GptConfig& gpt = model.gpt();
  return std::max({4 * gpt.channels, gpt.vocabulary, micro_batch * time});
}

}  // namespace zerolab
