// What being checked costs: the stages of the main job with its default checks and without.
#include <algorithm>

#include "experiments/bench/topics.h"
#include "experiments/checks/provenance.h"
#include "experiments/compare/checked_run.h"
#include "experiments/runner/run_inputs.h"

namespace zerolab {
namespace {

constexpr double kAtMost = 1.15;

/// Seconds of each round.
struct Costs {
  std::vector<double> off, on, provenance;

  void add(const Costs& other) {
    off.resize(other.off.size());
    on.resize(other.on.size());
    provenance.resize(other.provenance.size());
    for (std::size_t i = 0; i < off.size(); ++i) {
      off[i] += other.off[i];
      on[i] += other.on[i];
      provenance[i] += other.provenance[i];
    }
  }
  std::vector<double> all() const {
    std::vector<double> sums;
    for (std::size_t i = 0; i < on.size(); ++i) sums.push_back(on[i] + provenance[i]);
    return sums;
  }
};

/// One stage, round by round: without checks, with those that watch training, and the provenance
/// of a model in small, whose cost does not grow with the steps.
Costs measure(const ChecksSettings& settings, const RunInputs& inputs, const PlannedRun& planned,
              World& world) {
  RunInputs off = inputs;
  off.config.checks.clear();
  RunInputs on = inputs;
  const auto removed = std::erase(on.config.checks, "PROV");
  Costs costs;
  for (int round = 0; round < settings.pairs; ++round) {
    costs.on.push_back(seconds_of([&] { run_checked(world, on, planned, {}); }));
    costs.off.push_back(seconds_of([&] { run_checked(world, off, planned, {}); }));
    costs.provenance.push_back(seconds_of([&] {
      if (removed == 0) return;
      world.run([&](RankContext& ranks) { check_provenance(ranks, inputs, stage_run(planned)); });
    }));
  }
  return costs;
}

void add_figures(std::vector<Figure>& figures, const std::string& name, const Costs& costs) {
  const Goal goal{std::nullopt, kAtMost, std::nullopt};
  const TimePairs watched{costs.on, costs.off};
  const TimePairs all{costs.all(), costs.off};
  const Part off{"off", "s", spread_of(costs.off)};
  figures.push_back({"checks",
                     name + ", all",
                     "time with the default checks over time without",
                     "",
                     all.time_ratio(),
                     goal,
                     {{"on", "s", spread_of(all.a)}, off}});
  figures.push_back({"checks",
                     name + ", without PROV",
                     "time with the default checks over time without",
                     "",
                     watched.time_ratio(),
                     goal,
                     {{"on", "s", spread_of(costs.on)},
                      off,
                      {"PROV once a run", "s", spread_of(costs.provenance)}}});
}

}  // namespace

std::vector<Figure> bench_checks(const ChecksSettings& settings, Remarks& remarks) {
  const RunConfig& config = settings.config;
  const ModelSpec model = model_of(config);
  const RunData data(config, model);
  const RunInputs inputs{config, model, &data.batches(), nullptr};
  const auto world = make_thread_world(config.ranks);
  std::vector<Figure> figures;
  Costs sum;
  for (const PlannedRun& planned : plan_comparison(config, nullptr).runs) {
    remarks.tell(fmt::format("checks: {}", planned.name));
    const Costs costs = measure(settings, inputs, planned, *world);
    sum.add(costs);
    add_figures(figures, planned.name, costs);
  }
  add_figures(figures, "all stages", sum);
  return figures;
}

}  // namespace zerolab
