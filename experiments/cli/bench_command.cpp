// zerolab bench
#include <algorithm>
#include <memory>

#include "experiments/bench/bench_report.h"
#include "experiments/bench/topics.h"
#include "experiments/cli/command.h"
#include "experiments/cli/launch.h"
#include "experiments/config/validate.h"
#include "stages/core/atomic_file.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

const std::vector<std::string> kTopics = {"steps",   "stages",      "checks",
                                          "recipes", "collectives", "kernels",
                                          "memory",  "compare",     "time-model"};

struct BenchOptions {
  std::vector<std::string> topics = {"all"};
  std::vector<std::string> shapes;  ///< empty: S, M and L
  int repeats = 0;                  ///< 0: each topic's own
  RunConfig world;                  ///< of the collectives: ranks and how they talk
  std::string json, markdown;
  bool quiet = false;
  const CLI::App* command = nullptr;
};

bool wants(const BenchOptions& options, const char* topic) {
  const auto has = [&](const char* name) {
    return std::ranges::find(options.topics, name) != options.topics.end();
  };
  return has("all") || has(topic);
}

void validate(const BenchOptions& options) {
  std::vector<std::string> known = kTopics;
  known.emplace_back("all");
  for (const std::string& topic : options.topics) require_known("bench", topic, known);
  for (const std::string& shape : options.shapes) require_known("--shape", shape, {"S", "M", "L"});
  if (options.repeats < 0 || options.repeats > 1000) {
    bad_input("[options] --repeats is {}; give 1 to 1000, or leave the option out",
              options.repeats);
  }
  const bool only_collectives =
      std::ranges::all_of(options.topics, [](const std::string& t) { return t == "collectives"; });
  if (options.world.comm == "mpi" && !only_collectives) {
    bad_input(
        "[options] only collectives are measured between processes; zerolab bench "
        "collectives --comm mpi does that");
  }
}

/// The chosen shapes of `all`.
std::vector<StepShape> chosen_shapes(const BenchOptions& options) {
  std::vector<StepShape> shapes = step_shapes();
  std::erase_if(shapes, [&](const StepShape& shape) {
    return !options.shapes.empty() &&
           std::ranges::find(options.shapes, shape.name) == options.shapes.end();
  });
  return shapes;
}

/// Settings with the user's number of repetitions.
template <class Settings>
Settings repeated(const BenchOptions& options, Settings settings) {
  if (options.repeats > 0) settings.pairs = options.repeats;
  return settings;
}

std::vector<int> thread_counts(const Machine& machine) {
  return machine.cores > 1 ? std::vector{1, 2} : std::vector{1};
}

class Measuring {
 public:
  Measuring(const BenchOptions& options, const Machine& machine, World& world)
      : options_(options), threads_(thread_counts(machine)), world_(world) {}

  std::vector<Figure> run(Remarks& remarks) {
    // First, while the process holds nothing yet.
    if (wants(options_, "memory")) add(bench_memory(memory(), remarks));
    if (wants(options_, "steps")) {
      StepsSettings settings = repeated(options_, StepsSettings{});
      settings.shapes = chosen_shapes(options_);
      settings.threads = threads_;
      add(bench_steps(settings, remarks));
    }
    if (wants(options_, "stages")) {
      add(bench_stages(repeated(options_, StagesSettings{}), remarks));
    }
    if (wants(options_, "checks")) {
      add(bench_checks(repeated(options_, ChecksSettings{}), remarks));
    }
    if (wants(options_, "recipes")) {
      RecipesSettings settings = repeated(options_, RecipesSettings{});
      settings.shapes = chosen_shapes(options_);
      add(bench_recipes(settings, remarks));
    }
    if (wants(options_, "collectives")) {
      add(bench_collectives(world_, repeated(options_, CollectivesSettings{}), remarks));
    }
    if (wants(options_, "kernels")) {
      KernelsSettings settings = repeated(options_, KernelsSettings{});
      settings.shapes = chosen_shapes(options_);
      settings.threads = threads_;
      add(bench_kernels(settings, remarks));
    }
    if (wants(options_, "compare")) add(bench_compare({}, remarks));
    if (wants(options_, "time-model"))
      add(bench_time_model(repeated(options_, TimeModelSettings{}), remarks));
    return std::move(figures_);
  }

 private:
  MemorySettings memory() const {
    MemorySettings settings = memory_settings();
    std::erase_if(settings.single_ranks, [&](const MemorySettings::SingleRank& single) {
      return std::ranges::none_of(chosen_shapes(options_), [&](const StepShape& shape) {
        return shape.name == single.shape.name;
      });
    });
    return settings;
  }

  void add(std::vector<Figure> more) { std::ranges::move(more, std::back_inserter(figures_)); }

  const BenchOptions& options_;
  std::vector<int> threads_;
  World& world_;
  std::vector<Figure> figures_;
};

std::string command_text(const BenchOptions& options) {
  std::string text = "zerolab bench";
  for (const std::string& topic : options.topics) text += " " + topic;
  for (const std::string& shape : options.shapes) text += " --shape " + shape;
  if (options.repeats > 0) text += fmt::format(" --repeats {}", options.repeats);
  if (options.world.comm != "thread") text += " --comm " + options.world.comm;
  return text;
}

int bench(Console& console, BenchOptions options) {
  validate(options);
  const bool ranks_given = options.command->count("--ranks") > 0;
  const auto world = make_world(options.world, ranks_given, launch_of_this_process());
  const bool speaks = world->local_rank() == 0;
  std::unique_ptr<ResultsPage> page;
  if (!options.markdown.empty()) page = std::make_unique<ResultsPage>(options.markdown);

  BenchReport report;
  report.command = command_text(options);
  report.machine = this_machine();
  Remarks remarks;
  if (speaks && !options.quiet) {
    remarks.progress = [&](const std::string& what) {
      console.err << "measuring " << what << '\n' << std::flush;
    };
  }
  if (busy(report.machine)) {
    remarks.notices.push_back(
        fmt::format("the machine was busy (load {:.1f}) when the measurement began, so ratios of "
                    "times are less steady than they could be",
                    report.machine.load));
  }
  report.figures = Measuring(options, report.machine, *world).run(remarks);
  report.notices = std::move(remarks.notices);
  if (!speaks) return 0;
  console.out << bench_table(report) << std::flush;
  if (!options.json.empty()) write_file_atomically(options.json, bench_json(report));
  if (page) page->write(bench_markdown(report));
  return 0;
}

}  // namespace

void add_bench_command(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<BenchOptions>();
  options->world.ranks = 2;
  CLI::App* command = app.add_subcommand(
      "bench", "measure speed and memory as ratios against peers and limits, in turn");
  options->command = command;
  command
      ->add_option("TOPIC", options->topics,
                   "steps, stages, checks, recipes, collectives, kernels, memory, compare, "
                   "time-model, or all [all]")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      ->add_option("--shape", options->shapes,
                   "of steps, recipes, kernels and memory: S, M or L; may be repeated [all three]")
      ->type_name("NAME")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      ->add_option("--repeats", options->repeats,
                   "pairs of measurements behind each figure [3 to 9, by topic]")
      ->type_name("N");
  command->add_option("--ranks", options->world.ranks, "ranks of the collectives")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--comm", options->world.comm,
                   "what the collectives run between: threads, or MPI processes under mpirun")
      ->type_name("thread|mpi")
      ->capture_default_str();
  command->add_option("--json", options->json, "also write the figures as JSON [none]")
      ->type_name("FILE");
  command
      ->add_option("--markdown", options->markdown,
                   "also write tables into this page, between <!-- results --> and <!-- end --> "
                   "[none]")
      ->type_name("FILE");
  command->add_flag("--quiet", options->quiet, "no progress");
  command->callback([&chosen, options] {
    chosen = [options](Console& console) { return bench(console, *options); };
  });
}

}  // namespace zerolab
