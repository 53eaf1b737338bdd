// What distributing costs: DDP against ranks that know nothing of each other, ZeRO against DDP.
#include <algorithm>
#include <memory>

#include "experiments/bench/paced_run.h"
#include "experiments/bench/topics.h"
#include "experiments/report/words.h"

namespace zerolab {
namespace {

/// Runs that train at the same time.
class Together {
 public:
  void add(std::unique_ptr<PacedRun> run) { runs_.push_back(std::move(run)); }

  double train(std::int64_t steps) {
    for (const auto& run : runs_) run->begin(steps);
    double slowest = 0;
    for (const auto& run : runs_) slowest = std::max(slowest, run->finish());
    return slowest;
  }

 private:
  std::vector<std::unique_ptr<PacedRun>> runs_;
};

struct Opponent {
  std::string stage;
  double at_most;
};

RunConfig config_of(const StagesSettings& settings, int ranks) {
  RunConfig config;
  config.model = settings.model;
  config.micro_batch = settings.batch;
  config.ranks = ranks;
  config.threads = 1;
  return config;
}

Figure figure_of(std::string name, std::string meaning, double at_most, const TimePairs& times,
                 std::int64_t steps, const char* first, const char* second) {
  const auto per_step = [&](const std::vector<double>& seconds) {
    std::vector<double> milliseconds;
    for (const double s : seconds) milliseconds.push_back(1e3 * s / static_cast<double>(steps));
    return spread_of(std::move(milliseconds));
  };
  return {"stages",
          std::move(name),
          std::move(meaning),
          "",
          times.time_ratio(),
          Goal{std::nullopt, at_most, std::nullopt},
          {{first, "ms/step", per_step(times.a)}, {second, "ms/step", per_step(times.b)}}};
}

}  // namespace

std::vector<Figure> bench_stages(const StagesSettings& settings, Remarks& remarks) {
  const std::string shape =
      fmt::format("{} on {} of 1 thread", settings.model, counted(settings.ranks, "rank"));
  std::vector<Figure> figures;
  PacedRun ddp(config_of(settings, settings.ranks), "ddp");
  const std::int64_t steps = ddp.steps_in(settings.sample_seconds);
  {
    remarks.tell("stages: ddp against independent ranks");
    Together independent;
    for (int r = 0; r < settings.ranks; ++r) {
      independent.add(std::make_unique<PacedRun>(config_of(settings, 1), "ddp"));
    }
    const TimePairs times = measure_pairs(
        settings.pairs, [&] { return ddp.train(steps); }, [&] { return independent.train(steps); });
    figures.push_back(figure_of("ddp", shape + ", step time over that of independent ranks", 1.03,
                                times, steps, "ddp", "independent"));
  }
  for (const Opponent& opponent :
       {Opponent{"zero1", 1.02}, Opponent{"zero2", 1.02}, Opponent{"zero3", 1.10}}) {
    remarks.tell(fmt::format("stages: {} against ddp", opponent.stage));
    PacedRun run(config_of(settings, settings.ranks), opponent.stage);
    const TimePairs times = measure_pairs(
        settings.pairs, [&] { return run.train(steps); }, [&] { return ddp.train(steps); });
    figures.push_back(figure_of(opponent.stage, shape + ", step time over that of ddp",
                                opponent.at_most, times, steps, opponent.stage.c_str(), "ddp"));
  }
  return figures;
}

}  // namespace zerolab
