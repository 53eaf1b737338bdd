// zerolab faults list, zerolab faults run NAME
#include <algorithm>
#include <memory>

#include "experiments/cli/command.h"
#include "experiments/cli/fault_report.h"
#include "experiments/cli/setup.h"
#include "experiments/faults/faults.h"
#include "stages/core/error.h"
#include "stages/core/join.h"

namespace zerolab {
namespace {

int list(Console& console) {
  for (const auto& fault : faults()) {
    const FaultLabel& label = fault->label();
    console.out << fmt::format("{}  in {}  ({})\n", label.name, label.stage, label.source);
    console.out << fmt::format("    what happens   {}\n", label.happened);
    console.out << fmt::format("    what was seen  {}\n", label.seen);
    console.out << fmt::format("    detectors      {}\n", joined(label.detectors()));
    console.out << fmt::format("    in the loss    {}\n",
                               label.visible_in_loss ? "visible" : "not visible");
    if (!label.needs.empty()) {
      console.out << fmt::format("    needs          {}\n", joined(label.needs));
    }
    console.out << '\n';
  }
  console.out << "zerolab faults run NAME shows one being caught.\n";
  return 0;
}

/// The stage that has the fault and one that has not.
std::string stages_for(const std::string& faulty) {
  return faulty == "ddp" ? "zero1,ddp" : "ddp," + faulty;
}

int run(Console& console, RunOptions& options) {
  const auto fault = make_fault(options.config.fault);
  const FaultLabel& label = fault->label();
  apply_needs(options, label.needs);
  if (options.stages.empty()) options.stages = stages_for(label.stage);

  Setup setup = set_up(console, options, configure(console, options, Purpose::kCompare).config,
                       Purpose::kCompare);
  const Comparison comparison =
      compare_stages(*setup.world, setup.inputs(), plan_comparison(setup.config, &label),
                     progress_of(console, options), nullptr);
  const FaultOutcome outcome = outcome_of(comparison, label);
  publish(console, setup, comparison);
  if (setup.speaks()) print_outcome(console, outcome);
  return outcome.caught() ? 0 : 1;
}

}  // namespace

void add_faults_command(CLI::App& app, Command& chosen) {
  CLI::App* faults_app =
      app.add_subcommand("faults", "the museum of reported bugs, recreated (list, run NAME)");
  faults_app->add_subcommand("list", "every fault: source, stage, what was seen, who detects it")
      ->callback([&chosen] { chosen = list; });

  auto options = std::make_shared<RunOptions>();
  options->config.steps = 5;  // a fault that needs more says so
  options->config.evaluate_every = 0;
  options->plots = "off";
  options->config.timeout_seconds = 30;  // some faults make ranks wait for one another
  CLI::App* command = faults_app->add_subcommand(
      "run", "train with a fault and show what catches it; exit 0 when all of its detectors do");
  command->add_option("NAME", options->config.fault, "zerolab faults list")->required();
  command
      ->add_option("--stages", options->stages,
                   "what to train [ddp and the stage that has the fault]")
      ->type_name("LIST");
  add_run_options(*command, *options);
  command->callback([&chosen, options] {
    chosen = [options](Console& console) { return run(console, *options); };
  });
}

}  // namespace zerolab
