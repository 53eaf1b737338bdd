// zerolab plan
#include <memory>

#include "experiments/cli/command.h"
#include "experiments/cli/plan_options.h"
#include "experiments/plan/published_tables.h"
#include "stages/core/atomic_file.h"

namespace zerolab {
namespace {

struct PlanCommand {
  PlanOptions plan;
  std::string json, csv;
  bool published_tables = false;
};

/// "-" is the standard output.
void write(Console& console, const std::string& target, const std::string& text) {
  if (target == "-") {
    console.out << text;
  } else {
    write_file_atomically(target, text);
  }
}

int print_published_tables(Console& console) {
  std::vector<RecomputedFigure> figures;
  for (const PublishedFigure& figure : published_figures()) figures.push_back(recompute(figure));
  console.out << published_page(figures);
  return 0;
}

int plan(Console& console, const PlanCommand& command) {
  if (command.published_tables) return print_published_tables(console);
  std::vector<std::string> notices;
  PlanRequest request = plan_request(command.plan, notices);
  const PlanReport report = make_plan(std::move(request), std::move(notices));
  const bool piped = command.json == "-" || command.csv == "-";
  if (!piped) console.out << plan_text(report);
  if (!command.json.empty()) write(console, command.json, dumped(plan_json(report), 2) + "\n");
  if (!command.csv.empty()) write(console, command.csv, plan_csv(report));
  return 0;
}

}  // namespace

void add_plan_command(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<PlanCommand>();
  CLI::App* command = app.add_subcommand(
      "plan", "memory, bytes and time of a run before it is started: which stage fits");
  add_plan_options(*command, options->plan);
  command->option_defaults()->group("Output");
  command->add_option("--json", options->json, "write the plan as JSON; - for standard output")
      ->type_name("FILE");
  command->add_option("--csv", options->csv, "write the plan as CSV; - for standard output")
      ->type_name("FILE");
  command->add_flag("--published-tables", options->published_tables,
                    "recompute published figures instead, and print docs/published-tables.md");
  command->callback([&chosen, options] {
    chosen = [options](Console& console) { return plan(console, *options); };
  });
}

}  // namespace zerolab
