// The resident set that the system counts, against the bytes that the ledgers count.
#include "experiments/bench/process_memory.h"
#include "experiments/bench/topics.h"
#include "experiments/report/words.h"
#include "experiments/runner/rank_run.h"
#include "experiments/runner/run_inputs.h"

namespace zerolab {
namespace {

constexpr double kMib = 1 << 20;

RunConfig config_of(const std::string& model, std::int64_t batch, std::int64_t time, int ranks) {
  RunConfig config;
  config.model = model;
  config.micro_batch = batch;
  config.sequence = time;
  config.ranks = ranks;
  config.steps = 2;
  config.evaluate_every = 0;
  config.clip = 0;
  config.checks.clear();
  return config;
}

struct Held {
  std::int64_t baseline = 0, peak = 0;    ///< resident
  std::int64_t ledger = 0, reserved = 0;  ///< sums over ranks
};

/// Trains two steps; code and corpus have been touched before.
Held train(const RunConfig& config, const std::string& stage) {
  const ModelSpec model = model_of(config);
  const RunData data(config, model);
  StageRun run;
  run.name = run.stage = stage;
  run.factory = stage_factory(stage);
  const RunInputs inputs{config, model, &data.batches(), nullptr};
  const auto world = make_thread_world(config.ranks);
  Held held;
  held.baseline = reset_peak_resident();
  const StageResult result = run_stage(*world, inputs, run);
  held.peak = peak_resident_bytes();
  for (const RankResult& rank : result.ranks) {
    held.ledger += rank.peak_bytes;
    held.reserved += rank.reserved_bytes;
  }
  return held;
}

Spread in_mib(std::int64_t bytes) { return spread_of({static_cast<double>(bytes) / kMib}); }

Figure explained(const MemorySettings& settings, const std::string& stage) {
  const Held held = train(config_of(settings.model, settings.batch, 0, settings.ranks), stage);
  const std::int64_t process = held.peak - held.baseline;
  return {"memory",
          stage,
          fmt::format("growth of the resident set over ledgers and pool reserve, {} on {}",
                      settings.model, counted(settings.ranks, "rank")),
          "",
          spread_of({static_cast<double>(process) / static_cast<double>(held.reserved)}),
          Goal{0.95, 1.05, std::nullopt},
          {{"resident set", "MiB", in_mib(process)},
           {"ledgers, sum of ranks", "MiB", in_mib(held.ledger)},
           {"pool reserve", "MiB", in_mib(held.reserved - held.ledger)},
           {"baseline", "MiB", in_mib(held.baseline)}}};
}

Figure single_rank(const MemorySettings::SingleRank& single) {
  const StepShape& shape = single.shape;
  const Held held = train(config_of(shape.model, shape.batch, shape.time, 1), "ddp");
  const double mib = static_cast<double>(held.peak) / kMib;
  Figure figure{"memory",         shape.name,   "resident set of one rank, whole process", "MiB",
                spread_of({mib}), std::nullopt, {{"ledger", "MiB", in_mib(held.ledger)}}};
  if (single.llmc_mib > 0) figure.goal = Goal{std::nullopt, single.llmc_mib, std::nullopt};
  return figure;
}

}  // namespace

MemorySettings memory_settings() {
  // llm.c's figures, see docs/benchmarks.md.
  constexpr double kLlmcMib[] = {126, 646, 2462};
  MemorySettings settings;
  const std::vector<StepShape> shapes = step_shapes();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    settings.single_ranks.push_back({shapes[i], kLlmcMib[i]});
  }
  return settings;
}

std::vector<Figure> bench_memory(const MemorySettings& settings, Remarks& remarks) {
  std::vector<Figure> figures;
  try {
    reset_peak_resident();
  } catch (const Failure& failure) {
    remarks.notices.push_back(fmt::format("memory is not shown, because {}", failure.what()));
    return figures;
  }
  // The whole process, so first, and from small to large: the heap keeps what others have freed.
  for (const auto& single : settings.single_ranks) {
    remarks.tell(fmt::format("memory: {}", single.shape.name));
    figures.push_back(single_rank(single));
  }
  train(config_of("gpt-micro", 1, 0, settings.ranks), "zero3");  // code becomes resident
  for (const std::string& stage : stage_names()) {
    remarks.tell(fmt::format("memory: {}", stage));
    figures.push_back(explained(settings, stage));
  }
  return figures;
}

}  // namespace zerolab
