// report.json → Comparison, trusting nothing.
#include "experiments/report/report_fields.h"
#include "experiments/report/report_json.h"
#include "experiments/report/report_timeline.h"

namespace zerolab {
namespace {

constexpr int kVerdicts = 4;

CommLedger::Table read_volumes(const JsonField& field) {
  CommLedger::Table table{};
  for (std::size_t t = 0; t < kTrafficCount; ++t) {
    const JsonField group = field[name_of(static_cast<Traffic>(t))];
    for (std::size_t op = 0; op < kCollectiveOpCount; ++op) {
      const std::string_view name = name_of(static_cast<CollectiveOp>(op));
      if (group.has(name)) volume_fields(FieldReader(group[name]), table[t][op]);
    }
  }
  return table;
}

/// Columns of equal length, one entry a step, the same on all ranks.
std::vector<StepRecord> read_curves(const JsonField& stage, std::int64_t tokens_per_step) {
  const std::vector<double> loss = get_numbers(stage, "loss");
  std::vector<StepRecord> steps(loss.size());
  const auto column = [&](const char* key, auto&& put) {
    const std::vector<double> values = get_numbers(stage, key);
    if (values.size() != loss.size()) {
      stage[key].reject(fmt::format("{} numbers, as many as 'loss'", loss.size()));
    }
    for (std::size_t s = 0; s < values.size(); ++s) put(steps[s], values[s]);
  };
  column("loss", [](StepRecord& step, double x) { step.loss = x; });
  column("grad_norm", [](StepRecord& step, double x) { step.grad_norm = static_cast<float>(x); });
  column("factor", [](StepRecord& step, double x) { step.factor = static_cast<float>(x); });
  column("learning_rate",
         [](StepRecord& step, double x) { step.learning_rate = static_cast<float>(x); });
  column("loss_scale", [](StepRecord& step, double x) { step.loss_scale = x; });
  for (std::size_t s = 0; s < steps.size(); ++s) {
    steps[s].step = static_cast<std::int64_t>(s) + 1;
    steps[s].tokens = tokens_per_step;
  }
  const auto at = [&](const JsonField& number) -> StepRecord& {
    const std::int64_t step = number.integer();
    if (step < 1 || step > static_cast<std::int64_t>(steps.size())) {
      number.reject(fmt::format("a step from 1 to {}", steps.size()));
    }
    return steps[static_cast<std::size_t>(step - 1)];
  };
  const JsonField skipped = stage["skipped"];
  for (std::size_t i = 0; i < skipped.size(); ++i) at(skipped[i]).skipped = true;
  const JsonField held_out = stage["held_out_loss"];
  for (std::size_t i = 0; i < held_out.size(); ++i) {
    at(held_out[i]["step"]).held_out_loss = get_number(held_out[i], "loss");
  }
  return steps;
}

NoiseFloor read_noise_floor(const JsonField& from) {
  NoiseFloor floor;
  FieldReader fields(from);
  fields("clean_runs", floor.clean_runs);
  fields("factor", floor.factor);
  floor.loss = get_numbers(from, "loss");
  floor.grad_norm = get_numbers(from, "grad_norm");
  if (floor.grad_norm.size() != floor.loss.size()) {
    from["grad_norm"].reject(fmt::format("{} numbers, as many as 'loss'", floor.loss.size()));
  }
  floor.loss_bound = get_numbers(from, "loss_bound");
  floor.grad_norm_bound = get_numbers(from, "grad_norm_bound");
  if (floor.grad_norm_bound.size() != floor.loss_bound.size()) {
    from["grad_norm_bound"].reject(
        fmt::format("{} numbers, as many as 'loss_bound'", floor.loss_bound.size()));
  }
  fields("gradient_bound", floor.gradient_bound);
  return floor;
}

void read_memory(const JsonField& per_rank, StageComparison& stage) {
  for (std::size_t r = 0; r < stage.result.ranks.size(); ++r) {
    const JsonField from = per_rank[r];
    RankResult& rank = stage.result.ranks[r];
    rank.rank = static_cast<int>(from["rank"].count());
    if (rank.rank != static_cast<int>(r)) from["rank"].reject("the ranks in order, from 0");
    rank.peak_bytes = from["peak_bytes"].count();
    rank.peak_moment = from["peak_moment"].text();
    rank.reserved_bytes = from["reserved_bytes"].count();
    rank.peak_by_category = read_categories(from["by_category"]);
    rank.at_peak = read_categories(from["at_peak"]);
    if (!from.has("predicted_peak_bytes")) continue;
    if (stage.predicted.size() != r) from.reject("a prediction for all ranks or for none");
    Prediction& formula = stage.predicted.emplace_back();
    formula.peak_bytes = from["predicted_peak_bytes"].count();
    formula.peak_by_category = read_categories(from["predicted_by_category"]);
    formula.at_peak = read_categories(from["predicted_at_peak"]);
  }
}

void read_communication(const JsonField& per_rank, StageComparison& stage) {
  for (std::size_t r = 0; r < stage.result.ranks.size(); ++r) {
    RankResult& rank = stage.result.ranks[r];
    if (per_rank[r]["rank"].integer() != rank.rank)
      per_rank[r]["rank"].reject("the ranks in order");
    const JsonField volume = per_rank[r]["volume"];
    rank.training_volume = read_volumes(volume["steps"]);
    rank.evaluations = volume["evaluations"].count();
    rank.evaluation_volume = read_volumes(volume["of_evaluations"]);
    if (r >= stage.predicted.size()) continue;
    stage.predicted[r].per_step = read_volumes(volume["predicted_step"]);
    stage.predicted[r].per_evaluation = read_volumes(volume["predicted_evaluation"]);
  }
}

StageComparison read_stage(const JsonField& from) {
  StageComparison stage;
  stage.result.name = from["name"].text();
  stage.result.stage = from["stage"].text();
  stage.compared_with = from["compared_with"].text();
  stage.verdict = enum_named<Verdict>(from["verdict"], kVerdicts);
  stage.reason = from["reason"].text();

  const JsonField speed = from["throughput"];
  const JsonField memory = from["memory"]["per_rank"];
  if (memory.size() == 0) memory.reject("at least one rank");
  stage.result.ranks.resize(memory.size());
  const std::vector<StepRecord> steps = read_curves(from, speed["tokens_per_step"].count());
  const JsonField per_rank = speed["step_seconds_per_rank"];
  for (std::size_t r = 0; r < memory.size(); ++r) {
    std::vector<StepRecord>& mine = stage.result.ranks[r].steps = steps;
    const std::vector<double> seconds = get_numbers(per_rank[r], "seconds");
    if (seconds.size() != mine.size()) {
      per_rank[r]["seconds"].reject(fmt::format("{} numbers, as many as 'loss'", mine.size()));
    }
    for (std::size_t s = 0; s < mine.size(); ++s) mine[s].seconds = seconds[s];
  }
  read_memory(memory, stage);
  read_communication(from["communication"]["per_rank"], stage);
  if (const JsonField divergence = from["first_divergence"]; !divergence.is_null()) {
    divergence_fields(FieldReader(divergence), stage.first_divergence.emplace());
  }
  const JsonField findings = from["findings"];
  stage.findings.resize(findings.size());
  for (std::size_t i = 0; i < findings.size(); ++i) {
    finding_fields(FieldReader(findings[i]), stage.findings[i]);
  }
  read_timeline(from["timeline"], stage.result);
  return stage;
}

}  // namespace

Comparison read_report(const std::string& path) {
  const Json json = read_json_file(path);
  const JsonField report(json, path);
  if (report["schema"].text() != kReportSchema) {
    report["schema"].reject(fmt::format("\"{}\"", kReportSchema));
  }
  Comparison comparison;
  config_fields(FieldReader(report["config"]), comparison.config);
  environment_fields(FieldReader(report["environment"]), comparison.environment);
  comparison.reference = report["reference"].text();
  comparison.verdict = enum_named<Verdict>(report["verdict"], kVerdicts);
  comparison.seconds = get_number(report, "seconds");
  FieldReader notices(report);
  notices("notices", comparison.notices);
  if (const JsonField floor = report["noise_floor"]; !floor.is_null()) {
    comparison.noise_floor = read_noise_floor(floor);
  }
  const JsonField stages = report["stages"];
  for (std::size_t i = 0; i < stages.size(); ++i) {
    comparison.stages.push_back(read_stage(stages[i]));
  }
  return comparison;
}

}  // namespace zerolab
