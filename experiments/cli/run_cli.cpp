#include "experiments/cli/run_cli.h"

#include "experiments/cli/run_app.h"

namespace zerolab {

int run_cli(int argc, const char* const* argv, std::ostream& out, std::ostream& err) {
  const AppText text{
      "zerolab",
      "Trains the same model under plain data parallelism and the ZeRO stages, and proves that "
      "they "
      "agree.",
      "Exit codes: 0 agreement, 1 divergence, 2 bad input, 3 failure while running.\n"
      "zerolab COMMAND --help shows a command's options."};
  const AddCommands add = [](CLI::App& app, Command& chosen) {
    add_compare_command(app, chosen);
    add_train_command(app, chosen);
    add_diff_command(app, chosen);
    add_faults_command(app, chosen);
    add_bench_command(app, chosen);
    add_plan_command(app, chosen);
  };
  return run_app(text, add, argc, argv, out, err);
}

}  // namespace zerolab
