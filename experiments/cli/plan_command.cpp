// zerolab plan
#include <filesystem>
#include <memory>

#include "experiments/cli/command.h"
#include "experiments/cli/plan_options.h"
#include "experiments/plan/plan_plots.h"
#include "experiments/plan/published_tables.h"
#include "experiments/plan/replay_trace.h"
#include "experiments/plan/verify.h"
#include "stages/core/atomic_file.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

struct PlanCommand {
  PlanOptions plan;
  std::string json, csv, plots, trace;
  std::vector<std::string> stragglers;
  double jitter = 0;
  std::uint64_t seed = 1;
  bool verify = false, published_tables = false;

  bool replays() const { return !trace.empty() || !stragglers.empty() || jitter != 0; }
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
  console.out << published_page(figures, published_disagreements());
  return 0;
}

/// "3:1.5": rank 3 computes 1.5 times as long. \throws BadInput
void apply_straggler(const std::string& text, std::vector<double>& slowness) {
  std::size_t rank = 0, used_rank = 0, used_factor = 0;
  double factor = 0;
  const std::size_t colon = text.find(':');
  try {
    rank = std::stoul(text.substr(0, colon), &used_rank);
    factor = std::stod(text.substr(colon + 1), &used_factor);
  } catch (const std::exception&) {
    used_rank = std::string::npos;
  }
  const bool read =
      colon != std::string::npos && used_rank == colon && colon + 1 + used_factor == text.size();
  if (!read || rank >= slowness.size() || !(factor > 0 && factor <= 1e6)) {
    bad_input(
        "[plan] --straggler {} should be RANK:FACTOR, a rank below {} and a factor above 0, like "
        "3:1.5",
        text, slowness.size());
  }
  slowness[rank] = factor;
}

ReplaySettings replay_settings(const PlanCommand& command, int ranks) {
  ReplaySettings settings;
  settings.ranks = ranks;
  settings.jitter = command.jitter;
  settings.seed = command.seed;
  if (!(command.jitter >= 0 && command.jitter <= 1e6)) {
    bad_input("[plan] --jitter is {}; give a fraction of at least 0", command.jitter);
  }
  if (!command.stragglers.empty()) {
    settings.slowness.assign(static_cast<std::size_t>(ranks), 1.0);
    for (const std::string& text : command.stragglers) apply_straggler(text, settings.slowness);
  }
  return settings;
}

/// \throws BadInput before anything is printed.
std::vector<StageReplay> replays_of(const PlanCommand& command, const PlanRequest& request) {
  std::vector<StageReplay> replays;
  if (!command.replays()) return replays;
  if (!command.trace.empty() && request.stages.size() != 1) {
    bad_input("[plan] --trace draws one stage and {} were planned; name it with --stage",
              request.stages.size());
  }
  const ReplaySettings settings = replay_settings(command, request.recipe.run.ranks);
  for (const std::string& stage : request.stages) {
    replays.push_back(replay_stage(stage, request, settings));
  }
  return replays;
}

int plan(Console& console, const PlanCommand& command) {
  if (command.published_tables) return print_published_tables(console);
  PlanReport report;
  report.request = plan_request(command.plan, report);
  if (command.verify) require_verifiable(report.request);
  fill_plan(report);
  const std::vector<StageReplay> replays = replays_of(command, report.request);
  if (command.verify) {
    report.verification = verify_plan(report.request, [&](const std::string& stage) {
      console.err << "running " << stage << "\n";
    });
  }

  const bool piped = command.json == "-" || command.csv == "-" || command.trace == "-";
  if (!piped) console.out << plan_text(report);
  if (!piped && !replays.empty()) console.out << "\n" << replay_text(replays);
  if (!piped && report.verification) {
    console.out << "\n" << verification_text(*report.verification);
  }
  if (!command.json.empty()) write(console, command.json, dumped(plan_json(report), 2) + "\n");
  if (!command.csv.empty()) write(console, command.csv, plan_csv(report));
  if (!command.trace.empty()) write(console, command.trace, replay_trace(replays.front()));
  if (!command.plots.empty()) {
    const std::string notice = draw_plan(report, command.plots);
    if (!notice.empty()) console.err << notice << "\n";
  }
  return !report.verification || report.verification->agrees() ? 0 : 1;
}

void add_output_options(CLI::App& command, PlanCommand& o) {
  command.option_defaults()->group("Output");
  command.add_option("--json", o.json, "write the plan as JSON; - for standard output")
      ->type_name("FILE");
  command.add_option("--csv", o.csv, "write the plan as CSV; - for standard output")
      ->type_name("FILE");
  command.add_option("--plots", o.plots, "draw the plan into this directory")->type_name("DIR");
  command.option_defaults()->group("Replay");
  command.add_option("--trace", o.trace, "replay one stage's step and write a Perfetto trace")
      ->type_name("FILE");
  command
      .add_option("--straggler", o.stragglers,
                  "replay with a rank that computes so many times as long, 3:1.5; may be repeated")
      ->type_name("RANK:FACTOR")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->expected(1, -1);
  command
      .add_option("--jitter", o.jitter,
                  "replay with operations that take up to this fraction longer")
      ->type_name("X");
  command.add_option("--seed", o.seed, "of --jitter")->type_name("N")->capture_default_str();
  command.option_defaults()->group("Checks");
  command.add_flag("--verify", o.verify,
                   "train the model on threads and hold every byte against the plan");
  command.add_flag("--published-tables", o.published_tables,
                   "recompute published figures instead, and print docs/published-tables.md");
}

}  // namespace

void add_plan_command(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<PlanCommand>();
  CLI::App* command = app.add_subcommand(
      "plan", "memory, bytes and time of a run before it is started: which stage fits");
  add_plan_options(*command, options->plan);
  add_output_options(*command, *options);
  command->callback([&chosen, options] {
    chosen = [options](Console& console) { return plan(console, *options); };
  });
}

}  // namespace zerolab
