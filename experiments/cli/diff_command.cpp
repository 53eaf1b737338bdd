// zerolab diff A B
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "experiments/cli/command.h"
#include "experiments/diff/diff.h"
#include "experiments/report/words.h"

namespace zerolab {
namespace {

int print(Console& console, const RunDiff& diff) {
  for (const StageDiff& stage : diff.stages) {
    const std::string name =
        stage.a == stage.b ? stage.a : fmt::format("{} and {}", stage.a, stage.b);
    console.out << fmt::format("{}: {} over {}; {}", name, stage.equal ? "equal" : "diverged",
                               counted(stage.steps, "step"), stage.sentence);
    if (!stage.equal && stage.largest_loss_difference != 0) {
      console.out << fmt::format("; the losses differ by at most {:.3g}",
                                 stage.largest_loss_difference);
    }
    console.out << '\n';
  }
  for (const std::string& stage : diff.missing) console.out << stage << '\n';
  return diff.equal() ? 0 : 1;
}

}  // namespace

void add_diff_command(CLI::App& app, Command& chosen) {
  struct Paths {
    std::string a, b;
  };
  auto paths = std::make_shared<Paths>();
  CLI::App* command = app.add_subcommand(
      "diff", "compare two run directories of zerolab, or one stage of each, bit by bit");
  command->add_option("A", paths->a, "a run directory (runs/001) or one stage of it (runs/001/ddp)")
      ->required();
  command->add_option("B", paths->b, "another one")->required();
  command->callback([&chosen, paths] {
    chosen = [paths](Console& console) { return print(console, diff_runs(paths->a, paths->b)); };
  });
}

}  // namespace zerolab
