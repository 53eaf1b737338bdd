// What a recipe costs: 16 bits on a CPU that computes in fp32, and computing activations twice.
#include "experiments/bench/paced_run.h"
#include "experiments/bench/topics.h"

namespace zerolab {
namespace {

struct Recipe {
  const char* name;
  const char* meaning;
  double at_most;
  void (*choose)(RunConfig&);
};

// The CPU converts every operand. Of the three parts of a step, forward and two of backward,
// activation checkpoints do the first once more.
constexpr Recipe kRecipes[] = {
    {"bf16", "step time in bf16 over that in fp32", 1.3,
     [](RunConfig& config) { config.precision = "bf16"; }},
    {"checkpoint every block", "step time with activation checkpoints over that without", 4.0 / 3.0,
     [](RunConfig& config) { config.checkpoint_every = 1; }},
};

Part part_of(const char* name, const std::vector<double>& seconds, std::int64_t steps) {
  std::vector<double> milliseconds;
  for (const double s : seconds) milliseconds.push_back(1e3 * s / static_cast<double>(steps));
  return {name, "ms/step", spread_of(std::move(milliseconds))};
}

}  // namespace

std::vector<Figure> bench_recipes(const RecipesSettings& settings, Remarks& remarks) {
  std::vector<Figure> figures;
  for (const StepShape& shape : settings.shapes) {
    RunConfig plain;
    plain.model = shape.model;
    plain.micro_batch = shape.batch;
    plain.sequence = shape.time;
    plain.ranks = 1;
    PacedRun without(plain, "ddp");
    const std::int64_t steps = without.steps_in(settings.sample_seconds);
    for (const Recipe& recipe : kRecipes) {
      remarks.tell(fmt::format("recipes: {}, {}", shape.name, recipe.name));
      RunConfig config = plain;
      recipe.choose(config);
      PacedRun with(config, "ddp");
      const TimePairs times = measure_pairs(
          settings.pairs, [&] { return with.train(steps); }, [&] { return without.train(steps); });
      figures.push_back({"recipes",
                         fmt::format("{}, {}", shape.name, recipe.name),
                         recipe.meaning,
                         "",
                         times.time_ratio(),
                         Goal{std::nullopt, recipe.at_most, std::nullopt},
                         {part_of("with", times.a, steps), part_of("without", times.b, steps)}});
    }
  }
  return figures;
}

}  // namespace zerolab
