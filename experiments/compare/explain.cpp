#include "experiments/compare/explain.h"

#include <fmt/format.h>

#include <bit>

#include "experiments/checks/check_factory.h"
#include "experiments/checks/reference_check.h"
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

}  // namespace

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
        explanation.by_rounding = explanation.by_rounding && removed.by_rounding;
      }
      return explanation;
    }
  }
  return std::nullopt;
}

}  // namespace zerolab
