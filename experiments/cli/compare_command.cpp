// zerolab compare
#include <memory>

#include "experiments/cli/command.h"
#include "experiments/cli/fault_report.h"
#include "experiments/cli/setup.h"
#include "experiments/config/asks_for.h"
#include "experiments/faults/faults.h"

namespace zerolab {
namespace {

/// Stages that cannot accumulate locally leave a comparison in local order, unless they were asked
/// for by name or in a file: then `validate` says what is wrong.
void drop_unable_stages(const RunOptions& options, RunConfig& config,
                        std::vector<std::string>& notices) {
  const bool local =
      config.accumulation_order == AccumulationOrder::kLocal && config.accumulate > 1;
  if (!local || options.given("--stages") || config.stages != RunConfig().stages) return;
  std::erase_if(config.stages,
                [](const std::string& stage) { return !supports_local_accumulation(stage); });
  notices.emplace_back(
      "zero2 and zero3 keep no full gradient between micro-batches and so cannot accumulate in "
      "local order; only ddp and zero1 were compared");
}

/// Where ranks add up in an order that is not ours, INV is what holds sums against their bound.
void require_bound(RunConfig& config, std::vector<std::string>& notices) {
  const bool open = config.reduction == Reduction::kRing || config.reduction == Reduction::kNative;
  if (!open || config.checks.empty() || asks_for(config, "INV")) return;
  config.checks.emplace_back("INV");
  notices.push_back(
      fmt::format("INV was turned on: with --reduction {} it holds every sum against "
                  "the rounding bound",
                  name_of(config.reduction)));
}

int compare(Console& console, RunOptions& options) {
  if (!options.config.fault.empty()) {
    apply_needs(options, make_fault(options.config.fault)->label().needs);
  }
  auto [config, notices] = configure(console, options, Purpose::kCompare);
  drop_unable_stages(options, config, notices);
  require_bound(config, notices);
  Setup setup = set_up(console, options, config, Purpose::kCompare);
  const FaultLabel* label = setup.fault ? &setup.fault->label() : nullptr;
  Comparison comparison =
      compare_stages(*setup.world, setup.inputs(), plan_comparison(setup.config, label),
                     progress_of(console, options), setup.baseline.get());
  comparison.notices.insert(comparison.notices.begin(), notices.begin(), notices.end());
  publish(console, setup, comparison);
  bool missed = false;  // a fault that is not caught is no agreement
  if (label) {
    const FaultOutcome outcome = outcome_of(comparison, *label);
    missed = !outcome.caught();
    if (setup.speaks()) print_outcome(console, outcome);
  }
  return missed || comparison.verdict == Verdict::kDiverged ? 1 : 0;
}

}  // namespace

void add_compare_command(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand(
      "compare", "train under DDP and every ZeRO stage and prove that they agree (the main job)");
  command
      ->add_option("--stages", options->stages,
                   "what to train; ddp, or the first, is the "
                   "reference [ddp,zero1,zero2,zero3]")
      ->type_name("LIST");
  add_run_options(*command, *options);
  add_config_option(*command, *options);
  command->option_defaults()->group("Comparison");
  command
      ->add_option("--fault", options->config.fault,
                   "recreate this bug in its stage; zerolab faults list [none]")
      ->type_name("NAME");
  command
      ->add_option("--baseline", options->config.baseline,
                   "also compare with this earlier run's directory [none]")
      ->type_name("DIR");
  command->callback([&chosen, options] {
    chosen = [options](Console& console) { return compare(console, *options); };
  });
}

}  // namespace zerolab
