#include "experiments/predict/prediction.h"

#include <algorithm>
#include <numeric>

#include "experiments/predict/loop_prediction.h"
#include "experiments/predict/optimizer_prediction.h"
#include "experiments/predict/stage_prediction.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

CategoryBytes sum(CategoryBytes a, const CategoryBytes& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

std::int64_t total(const CategoryBytes& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

/// Raises the peaks of `result` to what is held at one moment. The first of equal totals stays.
void visit(Prediction& result, const CategoryBytes& held, const std::string& moment) {
  for (std::size_t i = 0; i < held.size(); ++i) {
    result.peak_by_category[i] = std::max(result.peak_by_category[i], held[i]);
  }
  if (total(held) <= result.peak_bytes) return;
  result.peak_bytes = total(held);
  result.at_peak = held;
  result.peak_moment = moment;
}

void add(CommLedger::Table& to, const CommLedger::Table& from, std::int64_t times) {
  for (std::size_t t = 0; t < to.size(); ++t) {
    for (std::size_t op = 0; op < to[t].size(); ++op) to[t][op] += times * from[t][op];
  }
}

}  // namespace

StagePrediction predict_states(const std::string& stage, const Setting& setting) {
  if (stage == "ddp") return predict_ddp(setting);
  if (stage == "zero1") return predict_zero1(setting);
  if (stage == "zero2") return predict_zero2(setting);
  if (stage == "zero3") return predict_zero3(setting);
  bad_input("[predict] there is no formula for the stage '{}'; known are ddp, zero1, zero2, zero3",
            stage);
}

Prediction predict_memory(const std::string& stage, const RunConfig& config, const Setting& setting,
                          const StagePrediction& states, const CategoryBytes& loop) {
  Prediction result;
  CategoryBytes lasting = sum(states.lasting, loop);
  of(lasting, Category::kWorkspace) += optimizer_workspace_bytes(stage, setting);
  visit(result, lasting, "");
  if (config.trained_steps() == 0) return result;
  for (const Moment& m : states.training) visit(result, sum(lasting, m.bytes), m.name);
  if (config.evaluate_every > 0) {
    for (const Moment& m : states.evaluation) visit(result, sum(lasting, m.bytes), m.name);
  }
  return result;
}

CommLedger::Table predict_step(const std::string& stage, const Setting& setting,
                               const StagePrediction& states) {
  CommLedger::Table table = states.per_step;
  add_control_per_step(table, setting, stage != "ddp");
  add_optimizer_per_step(table, stage, setting);
  return table;
}

Prediction predict(const std::string& stage, const RunConfig& config, const ModelSpec& model,
                   int rank) {
  check_predictable(stage, config);
  if (rank < 0 || rank >= config.ranks) {
    bad_input("[predict] rank {} is not one of {} ranks; they count from 0", rank, config.ranks);
  }
  const Setting setting = make_setting(config, model, rank);
  const StagePrediction states = predict_states(stage, setting);

  Prediction result =
      predict_memory(stage, config, setting, states, loop_bytes(config, model, setting));
  result.per_step = predict_step(stage, setting, states);
  if (config.evaluate_every > 0) {
    add(result.per_evaluation, states.per_held_out, held_out_of_rank(config));
    add_control_per_evaluation(result.per_evaluation, setting, config);
  }
  return result;
}

}  // namespace zerolab
