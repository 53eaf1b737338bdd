#include "experiments/compare/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "experiments/checks/check_factory.h"
#include "experiments/checks/reference_check.h"
#include "experiments/compare/clean_runs.h"
#include "experiments/compare/envelope.h"
#include "experiments/runner/run_inputs.h"
#include "stages/core/join.h"

namespace zerolab {
namespace {

StageResult train_recorded(World& world, const RunInputs& inputs, const Configured& configured,
                           const std::vector<Switch>& switches) {
  RunInputs own = inputs;
  own.config = configured.config;
  own.config.checks = {"REF"};
  own.config.trace = false;
  own.model = model_of(own.config);
  if (!configured.run.faulty) own.fault = nullptr;
  PlannedRun planned = configured.run;
  for (const Switch& removed : switches) removed.apply(own.config);
  planned.order = own.config.accumulation_order;
  StageRun run = stage_run(planned);
  run.checks = [](const CheckContext& context) {
    return make_checks(context.config.checks, context);
  };
  // Micro-batches of another size are other micro-batches.
  const RunData data(own.config, own.model);
  own.data = &data.batches();
  if (own.config.ranks == world.world_size()) return run_stage(world, own, run);
  return run_stage(*make_thread_world(own.config.ranks, own.config.timeout_seconds), own, run);
}

bool equal_without(World& world, const RunInputs& inputs, const Configured& a, const Configured& b,
                   const std::vector<Switch>& switches) {
  const StageResult first = train_recorded(world, inputs, a, switches);
  const StageResult second = train_recorded(world, inputs, b, switches);
  return check_reference(first, second, layout_of(inputs.model), a.config.trained_steps(),
                         b.config.ranks)
      .empty();
}

/// What `--baseline` allows a run whose operations all round differently, after `step` steps.
double loss_bound(World& world, const RunInputs& inputs, const Configured& a, std::int64_t step) {
  RunInputs own = inputs;
  own.config = a.config;
  own.model = model_of(own.config);
  const RunData data(own.config, own.model);
  own.data = &data.batches();
  PlannedRun reference = a.run;
  reference.order = own.config.accumulation_order;
  std::vector<std::vector<StepRecord>> clean = perturbed_runs(world, own, reference);
  clean.push_back(bare_run(world, own, reference));
  return static_cast<double>(step) * Envelope(clean).loss(static_cast<std::size_t>(step - 1));
}

}  // namespace

std::string bound_text(World& world, const RunInputs& inputs, const Explanation& why,
                       const Configured& a, const Configured& b, std::int64_t step) {
  if (why.bound == Bound::kNone) return "; this is not rounding, so no bound of rounding holds";
  if (why.bound == Bound::kLoss) {
    const std::int64_t at = std::max<std::int64_t>(step, 1);
    return fmt::format("; the bound is {:.2g} for the loss of step {}",
                       std::max(loss_bound(world, inputs, a, at), loss_bound(world, inputs, b, at)),
                       at);
  }
  const double bound = gradient_bound(a.config, b.config);
  if (std::isinf(bound)) return "; so many roundings have no bound";
  return fmt::format(
      "; the bound is {:.2g} of the sum of its terms' magnitudes for an element of the gradient",
      bound);
}

std::string Explanation::sentence() const {
  return fmt::format("differs because {}; with {} it is equal", fmt::join(causes, ", and "),
                     fmt::join(options, " "));
}

std::optional<Explanation> explain(World& world, const RunInputs& inputs, const Configured& a,
                                   const Configured& b) {
  const std::vector<Switch> switches = switches_between(a.config, b.config);
  const unsigned all = 1U << switches.size();
  for (int size = 1; size <= static_cast<int>(switches.size()); ++size) {
    for (unsigned chosen = 1; chosen < all; ++chosen) {
      if (std::popcount(chosen) != size) continue;
      std::vector<Switch> set;
      for (std::size_t i = 0; i < switches.size(); ++i) {
        if ((chosen >> i & 1U) != 0) set.push_back(switches[i]);
      }
      if (!equal_without(world, inputs, a, b, set)) continue;
      Explanation explanation;
      for (const Switch& removed : set) {
        explanation.options.push_back(removed.option);
        explanation.causes.push_back(removed.cause);
        explanation.bound = std::max(explanation.bound, removed.bound);
      }
      return explanation;
    }
  }
  return std::nullopt;
}

}  // namespace zerolab
