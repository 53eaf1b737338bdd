// zerolab diff A B
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "experiments/cli/command.h"
#include "experiments/diff/explain_diff.h"
#include "experiments/report/words.h"

namespace zerolab {
namespace {

struct DiffOptions {
  std::string a, b;
  bool explain = false;
};

/// Whether a named difference accounts for it.
bool print_explanation(Console& console, const DiffOptions& options, const StageDiff& stage) {
  const std::optional<std::string> why = explain_diff(options.a, options.b, stage);
  console.out << (why ? "  " + *why
                      : "  no switch, and no set of them, makes the two equal: they differ in more "
                        "than a named difference") +
                     "\n";
  return why.has_value();
}

int print(Console& console, const DiffOptions& options) {
  const RunDiff diff = diff_runs(options.a, options.b);
  bool agree = diff.missing.empty();
  for (const StageDiff& stage : diff.stages) {
    const std::string name =
        stage.a == stage.b ? stage.a : fmt::format("{} and {}", stage.a, stage.b);
    console.out << fmt::format("{}: {} over {}; {}", name, stage.equal ? "equal" : "diverged",
                               counted(stage.steps, "step"), stage.sentence);
    if (!stage.equal && stage.loss.step != 0) {
      console.out << fmt::format("; the losses differ by at most {:.3g}", stage.loss.largest);
    }
    console.out << '\n';
    if (stage.equal) continue;
    const bool explained = options.explain && print_explanation(console, options, stage);
    agree = agree && explained;
  }
  for (const std::string& stage : diff.missing) console.out << stage << '\n';
  return agree && !diff.stages.empty() ? 0 : 1;
}

}  // namespace

void add_diff_command(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App* command = app.add_subcommand(
      "diff", "compare two run directories of zerolab, or one stage of each, bit by bit");
  command
      ->add_option("A", options->a, "a run directory (runs/001) or one stage of it (runs/001/ddp)")
      ->required();
  command->add_option("B", options->b, "another one")->required();
  command->add_flag("--explain", options->explain,
                    "train both again to find the smallest set of options that makes them equal");
  command->callback([&chosen, options] {
    chosen = [options](Console& console) { return print(console, *options); };
  });
}

}  // namespace zerolab
