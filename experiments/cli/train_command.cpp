// zerolab train
#include <memory>

#include "experiments/cli/command.h"
#include "experiments/cli/save_weights.h"
#include "experiments/cli/setup.h"
#include "experiments/report/walkthrough.h"

namespace zerolab {
namespace {

struct TrainOptions {
  RunOptions run;
  bool walkthrough = false;
};

ObserverFactory observers_of(Console& console, const TrainOptions& options) {
  return [progress = progress_of(console, options.run), path = options.run.config.save_weights](
             const CheckContext& context, const std::string& run) {
    auto observers = progress ? progress(context, run) : decltype(progress(context, run))();
    if (!path.empty()) observers.push_back(std::make_unique<SaveWeights>(context, path));
    return observers;
  };
}

int train(Console& console, const TrainOptions& options) {
  auto [config, notices] = configure(console, options.run, Purpose::kTrain);
  Setup setup = set_up(console, options.run, config, Purpose::kTrain);
  Comparison comparison = compare_stages(*setup.world, setup.inputs(), plan_training(setup.config),
                                         observers_of(console, options), setup.baseline.get());
  comparison.notices.insert(comparison.notices.begin(), notices.begin(), notices.end());
  if (setup.speaks() && options.walkthrough) {
    console.out << walkthrough(comparison.stages.front().result);
  }
  publish(console, setup, comparison);
  return comparison.verdict == Verdict::kDiverged ? 1 : 0;
}

}  // namespace

void add_train_command(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<TrainOptions>();
  RunOptions& run = options->run;
  // A fingerprint costs little and lets two runs be compared afterwards (zerolab diff).
  run.config.checks = {"REF"};
  run.config.stages = {"ddp"};
  run.stages = "ddp";
  CLI::App* command = app.add_subcommand("train", "train one stage");
  command->add_option("--stage,--stages", run.stages, "ddp, zero1, zero2 or zero3")
      ->type_name("NAME")
      ->capture_default_str();
  add_run_options(*command, run);
  add_config_option(*command, run);
  command->option_defaults()->group("Output");
  command
      ->add_option("--save-weights", run.config.save_weights,
                   "write the trained weights as safetensors with Hugging Face's names [none]")
      ->type_name("FILE");
  command->add_flag("--walkthrough", options->walkthrough,
                    "tell the last step of two ranks: who holds which bytes, what moves");
  command
      ->add_option("--baseline", run.config.baseline,
                   "also compare with this earlier run's directory [none]")
      ->type_name("DIR");
  command->callback([&chosen, options] {
    chosen = [options](Console& console) { return train(console, *options); };
  });
}

}  // namespace zerolab
