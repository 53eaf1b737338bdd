// Comparison → report.json. The keys' order is the order in which a person reads the file.
#include "experiments/report/report_json.h"

#include "experiments/report/report_fields.h"
#include "experiments/report/report_timeline.h"
#include "experiments/report/stage_numbers.h"

namespace zerolab {
namespace {

/// Per step where it divides, so that the usual figure is a whole number of bytes.
Json per_step(std::int64_t total, std::int64_t steps) {
  if (steps == 0) return 0;
  if (total % steps == 0) return total / steps;
  return static_cast<double>(total) / static_cast<double>(steps);
}

Json by_category(const CategoryBytes& bytes) {
  Json object = Json::object();
  for (int c = 0; c < kCategoryCount; ++c) {
    object[std::string(name_of(static_cast<Category>(c)))] = bytes[static_cast<std::size_t>(c)];
  }
  return object;
}

/// Operations that were called or expected; training and control together unless `only` is given.
Json by_operation(const CommLedger::Table& table, std::int64_t steps,
                  const std::vector<Traffic>& groups) {
  Json object = Json::object();
  for (std::size_t op = 0; op < kCollectiveOpCount; ++op) {
    Volume sum;
    for (const Traffic traffic : groups) sum += table[static_cast<std::size_t>(traffic)][op];
    if (sum == Volume{}) continue;
    object[std::string(name_of(static_cast<CollectiveOp>(op)))] = {
        {"calls", per_step(sum.calls, steps)},
        {"sent_bytes", per_step(sum.sent(), steps)},
        {"received_bytes", per_step(sum.received(), steps)}};
  }
  return object;
}

Json volume_table(const CommLedger::Table& table) {
  Json object = Json::object();
  for (int t = 0; t < kTrafficCount; ++t) {
    Json& group = object[std::string(name_of(static_cast<Traffic>(t)))] = Json::object();
    for (int op = 0; op < kCollectiveOpCount; ++op) {
      const Volume& volume = table[static_cast<std::size_t>(t)][static_cast<std::size_t>(op)];
      if (volume == Volume{}) continue;
      volume_fields(FieldWriter(group[std::string(name_of(static_cast<CollectiveOp>(op)))]),
                    volume);
    }
  }
  return object;
}

Json memory(const StageComparison& stage) {
  Json ranks = Json::array();
  for (std::size_t r = 0; r < stage.result.ranks.size(); ++r) {
    const RankResult& rank = stage.result.ranks[r];
    Json object = {{"rank", rank.rank},
                   {"peak_bytes", rank.peak_bytes},
                   {"peak_moment", rank.peak_moment},
                   {"reserved_bytes", rank.reserved_bytes},
                   {"by_category", by_category(rank.peak_by_category)},
                   {"at_peak", by_category(rank.at_peak)}};
    if (r < stage.predicted.size()) {
      const Prediction& formula = stage.predicted[r];
      object["predicted_peak_bytes"] = formula.peak_bytes;
      object["predicted_by_category"] = by_category(formula.peak_by_category);
      object["predicted_at_peak"] = by_category(formula.at_peak);
    }
    ranks.push_back(std::move(object));
  }
  return {{"as_predicted", memory_as_predicted(stage)}, {"per_rank", std::move(ranks)}};
}

Json communication(const StageComparison& stage) {
  const std::vector<Traffic> both = {Traffic::kTraining, Traffic::kControl};
  Json ranks = Json::array();
  for (std::size_t r = 0; r < stage.result.ranks.size(); ++r) {
    const RankResult& rank = stage.result.ranks[r];
    const auto steps = static_cast<std::int64_t>(rank.steps.size());
    Volume sum = total(rank.training_volume, Traffic::kTraining);
    sum += total(rank.training_volume, Traffic::kControl);
    Json object = {{"rank", rank.rank},
                   {"sent_bytes_per_step", per_step(sum.sent(), steps)},
                   {"received_bytes_per_step", per_step(sum.received(), steps)}};
    const bool predicted = r < stage.predicted.size();
    if (predicted) {
      object["predicted_sent_bytes_per_step"] = predicted_sent_per_step(stage.predicted[r]);
    }
    object["by_operation"] = by_operation(rank.training_volume, steps, both);
    for (const Traffic traffic : both) {
      Json& group = object[std::string(name_of(traffic))];
      group["by_operation"] = by_operation(rank.training_volume, steps, {traffic});
      if (!predicted) continue;
      group["predicted_by_operation"] = by_operation(stage.predicted[r].per_step, 1, {traffic});
    }
    object["volume"] = {{"steps", volume_table(rank.training_volume)},
                        {"evaluations", rank.evaluations},
                        {"of_evaluations", volume_table(rank.evaluation_volume)}};
    if (predicted) {
      object["volume"]["predicted_step"] = volume_table(stage.predicted[r].per_step);
      object["volume"]["predicted_evaluation"] = volume_table(stage.predicted[r].per_evaluation);
    }
    ranks.push_back(std::move(object));
  }
  return {{"as_predicted", traffic_as_predicted(stage)}, {"per_rank", std::move(ranks)}};
}

Json speed(const StageResult& result) {
  const Throughput figures = throughput(result);
  Json object = {{"tokens_per_second", figures.tokens_per_second},
                 {"step_seconds_median", figures.step_seconds_median},
                 {"tokens_per_step", figures.tokens_per_step}};
  for (const RankResult& rank : result.ranks) {
    std::vector<double> seconds;
    for (const StepRecord& step : rank.steps) seconds.push_back(step.seconds);
    Json& of_rank = object["step_seconds_per_rank"].emplace_back(Json::object());
    put_numbers(of_rank, "seconds", seconds);
  }
  return object;
}

/// What all ranks agree on, column by column.
void put_curves(Json& object, const std::vector<StepRecord>& steps) {
  std::vector<double> loss, norm, factor, rate, scale;
  Json held_out = Json::array(), skipped = Json::array();
  for (const StepRecord& step : steps) {
    loss.push_back(step.loss);
    norm.push_back(shortest(step.grad_norm));
    factor.push_back(shortest(step.factor));
    rate.push_back(shortest(step.learning_rate));
    scale.push_back(step.loss_scale);
    if (step.skipped) skipped.push_back(step.step);
    if (!step.held_out_loss) continue;
    Json& entry = held_out.emplace_back(Json{{"step", step.step}});
    put_number(entry, "loss", *step.held_out_loss);
  }
  put_numbers(object, "loss", loss);
  object["held_out_loss"] = std::move(held_out);
  put_numbers(object, "grad_norm", norm);
  put_numbers(object, "factor", factor);
  put_numbers(object, "learning_rate", rate);
  put_numbers(object, "loss_scale", scale);
  object["skipped"] = std::move(skipped);
}

Json noise_json(const std::optional<NoiseFloor>& floor) {
  if (!floor) return nullptr;
  Json object = {{"clean_runs", floor->clean_runs}};
  put_number(object, "factor", floor->factor);
  put_numbers(object, "loss", floor->loss);
  put_numbers(object, "grad_norm", floor->grad_norm);
  put_numbers(object, "loss_bound", floor->loss_bound);
  put_numbers(object, "grad_norm_bound", floor->grad_norm_bound);
  put_number(object, "gradient_bound", floor->gradient_bound);
  return object;
}

Json stage_json(const StageComparison& stage) {
  Json object = {{"name", stage.result.name},
                 {"stage", stage.result.stage},
                 {"compared_with", stage.compared_with},
                 {"verdict", name_of(stage.verdict)},
                 {"reason", stage.reason}};
  put_curves(object, stage.result.steps());
  object["memory"] = memory(stage);
  object["communication"] = communication(stage);
  object["throughput"] = speed(stage.result);
  Json& divergence = object["first_divergence"];
  if (stage.first_divergence) divergence_fields(FieldWriter(divergence), *stage.first_divergence);
  object["findings"] = Json::array();
  for (const Finding& finding : stage.findings) {
    finding_fields(FieldWriter(object["findings"].emplace_back(Json::object())), finding);
  }
  object["timeline"] = timeline_json(stage.result);
  return object;
}

}  // namespace

std::string report_json(const Comparison& comparison) {
  Json report = {{"schema", kReportSchema}};
  config_fields(FieldWriter(report["config"]), comparison.config);
  environment_fields(FieldWriter(report["environment"]), comparison.environment);
  report["reference"] = comparison.reference;
  report["verdict"] = name_of(comparison.verdict);
  put_number(report, "seconds", comparison.seconds);
  report["notices"] = comparison.notices;
  report["noise_floor"] = noise_json(comparison.noise_floor);
  report["stages"] = Json::array();
  for (const StageComparison& stage : comparison.stages) {
    report["stages"].push_back(stage_json(stage));
  }
  return dumped(report, 1) + "\n";
}

}  // namespace zerolab
