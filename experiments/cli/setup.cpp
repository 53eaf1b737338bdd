#include "experiments/cli/setup.h"

#include <algorithm>

#include "experiments/cli/launch.h"
#include "experiments/cli/progress.h"
#include "experiments/config/deepspeed/deepspeed_config.h"
#include "experiments/faults/faults.h"
#include "experiments/report/verdict_table.h"
#include "experiments/report/words.h"
#include "experiments/report/write_report.h"
#include "stages/checkpoint/weights.h"
#include "stages/core/error.h"
#include "stages/core/join.h"

namespace zerolab {
namespace {

/// \throws BadInput when the stage that the fault is built into is not run.
void require_stage_of(const FaultLabel& fault, const RunConfig& config) {
  if (std::ranges::find(config.stages, fault.stage) != config.stages.end()) return;
  bad_input("[faults] {} is a fault of {}, which is not run; add it to --stages", fault.name,
            fault.stage);
}

/// A config.json's dropout holds where the command line does not say otherwise.
void take_dropout_of_file(Setup& setup) {
  const double dropout = dropout_of_file(setup.model);
  setup.config.dropout = dropout;
  if (dropout == 0) return;
  setup.model.notices.push_back(
      fmt::format("[model] dropout is {}, which {} says (or leaves to the default of GPT-2); "
                  "--dropout 0 turns it off",
                  dropout, setup.model.name));
}

/// Opens what this process reads. Everything is looked at before a step is trained.
void open_inputs(Setup& setup, Purpose purpose, bool dropout_given) {
  const RunConfig& config = setup.config;
  setup.model = model_of(config);
  if (!dropout_given) take_dropout_of_file(setup);
  validate(config, setup.model, purpose);
  if (!config.fault.empty()) {
    setup.fault = make_fault(config.fault);
    require_stage_of(setup.fault->label(), config);
  }
  if (!config.load_weights.empty()) WeightsFile(layout_of(setup.model), config.load_weights);
  setup.data = std::make_unique<RunData>(config, setup.model);
  if (config.evaluate_every > 0 && setup.data->batches().held_out_count() == 0) {
    bad_input(
        "[data] the held-out part (the last 10 %) is shorter than one sequence; give more "
        "data, a shorter --seq, or --eval-every 0");
  }
  if (!config.baseline.empty()) {
    setup.baseline = std::make_unique<Baseline>(config.baseline, config);
  }
}

/// \throws BadInput for an option that the optimizer, which a JSON may have chosen, does not look
/// at.
void reject_options_of_other_optimizers(const RunOptions& options, const RunConfig& config) {
  const std::string& chosen = config.optimizer.name;
  const auto only = [&](const char* option, const std::vector<std::string>& optimizers) {
    if (!options.given(option) || std::ranges::find(optimizers, chosen) != optimizers.end()) return;
    bad_input("[options] {} means nothing to --optimizer {}; it is for {}", option, chosen,
              joined(optimizers));
  };
  for (const char* option : {"--beta1", "--beta2", "--epsilon"}) {
    only(option, {"adamw", "lamb", "muon"});
  }
  only("--momentum", {"sgd"});
  only("--muon-momentum", {"muon"});
  only("--muon-adamw-lr", {"muon"});
  only("--lamb-norms", {"lamb"});
}

/// \throws BadInput for an option of the learning rate that the others leave without effect.
void reject_idle_options(const RunOptions& options, const RunConfig& config) {
  const auto reject = [&](bool idle, const char* option, const char* why) {
    if (!idle || !options.given(option)) return;
    bad_input("[options] {} was given, but {}; leave it out", option, why);
  };
  const bool constant = config.decay == Decay::kConstant;
  reject(constant, "--final-lr-fraction", "--schedule constant never falls");
  reject(constant, "--schedule-steps", "--schedule constant never falls");
  const bool cold = config.warmup_steps == 0 && config.step_count == StepCount::kFromOne;
  reject(cold, "--warmup-shape", "there is no warm-up");
  reject(cold, "--warmup-min-lr", "there is no warm-up");
}

std::vector<std::string> tensor_names(const ModelSpec& model) {
  const ParameterLayout layout = layout_of(model);
  std::vector<std::string> names;
  for (const TensorSpec& tensor : layout.tensors()) names.push_back(tensor.name);
  return names;
}

void print_and_write(Console& console, Setup& setup, const Comparison& comparison) {
  console.out << '\n' << verdict_table(comparison, console.colour) << '\n';
  console.out << verdict_sentences(comparison, console.colour) << std::flush;
  std::vector<std::string> notices = comparison.notices;
  for (std::string& notice :
       write_report(comparison, tensor_names(setup.model), *setup.directory, setup.plots)) {
    notices.push_back(std::move(notice));
  }
  setup.directory->commit();
  for (const std::string& notice : notices) console.out << "note: " << notice << '\n';
  console.out << fmt::format("{:.1f} s; report: {}\n", comparison.seconds,
                             (setup.directory->final_path() / "report.html").string())
              << std::flush;
}

}  // namespace

Configured configure(Console& console, const RunOptions& options, Purpose purpose) {
  // Not every command has every option that a file may set.
  const auto given = [&](const std::string& option) {
    const CLI::Option* known = options.command->get_option_no_throw(option);
    return known != nullptr && known->count() > 0;
  };
  Configured all{run_config(options), {}};
  RunConfig& config = all.config;
  if (given("--config") && config.config_file.empty()) {
    bad_input("[options] --config is empty; name a file, or leave the option out");
  }
  console.world = make_world(config, options.given("--ranks"), launch_of_this_process());
  if (!config.config_file.empty()) {
    run_agreed(*console.world,
               [&] { all.notices = apply_deepspeed_config(config, purpose, given); });
  }
  reject_options_of_other_optimizers(options, config);
  reject_idle_options(options, config);
  return all;
}

Setup set_up(Console& console, const RunOptions& options, RunConfig config, Purpose purpose) {
  Setup setup;
  setup.world = console.world;
  setup.config = std::move(config);
  setup.plots = options.plots == "on";
  run_agreed(*setup.world, [&] { open_inputs(setup, purpose, options.given("--dropout")); });
  // Last, so that nothing is left to go wrong but the training itself.
  run_agreed(*setup.world, [&] {
    if (setup.speaks()) setup.directory = std::make_unique<RunDirectory>(setup.config.out);
  });
  return setup;
}

ObserverFactory progress_of(Console& console, const RunOptions& options) {
  if (options.quiet) return {};
  return [&console](const CheckContext& context, const std::string& run) {
    std::vector<std::unique_ptr<TrainObserver>> observers;
    if (context.ranks.rank() == 0) {
      observers.push_back(std::make_unique<Progress>(console, run, context.config.trained_steps()));
    }
    return observers;
  };
}

void publish(Console& console, Setup& setup, const Comparison& comparison) {
  // All processes wait here for the one that writes: mpirun ends a job whose first process leaves
  // with an exit code, and a full disk must be everybody's failure.
  run_agreed(*setup.world, [&] {
    if (setup.speaks()) print_and_write(console, setup, comparison);
  });
}

}  // namespace zerolab
