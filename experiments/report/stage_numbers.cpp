#include "experiments/report/stage_numbers.h"

#include <algorithm>
#include <cmath>

namespace zerolab {

std::vector<double> step_seconds(const StageResult& result) {
  std::vector<double> slowest;
  for (const RankResult& rank : result.ranks) {
    slowest.resize(std::max(slowest.size(), rank.steps.size()));
    for (std::size_t s = 0; s < rank.steps.size(); ++s) {
      slowest[s] = std::max(slowest[s], rank.steps[s].seconds);
    }
  }
  return slowest;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const std::size_t middle = values.size() / 2;
  std::ranges::sort(values);
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Throughput throughput(const StageResult& result) {
  if (result.ranks.empty() || result.steps().empty()) return {};
  Throughput figures;
  double tokens = 0;
  for (const StepRecord& step : result.steps()) tokens += static_cast<double>(step.tokens);
  tokens /= static_cast<double>(result.steps().size());
  figures.tokens_per_step = std::llround(tokens);
  figures.step_seconds_median = median(step_seconds(result));
  if (figures.step_seconds_median > 0) {
    figures.tokens_per_second = tokens / figures.step_seconds_median;
  }
  return figures;
}

std::size_t largest_rank(const StageResult& result) {
  const auto largest = std::ranges::max_element(result.ranks, {}, &RankResult::peak_bytes);
  return static_cast<std::size_t>(largest - result.ranks.begin());
}

Volume total(const CommLedger::Table& table, Traffic traffic) {
  Volume sum;
  for (const Volume& volume : table[static_cast<std::size_t>(traffic)]) sum += volume;
  return sum;
}

double sent_per_step(const RankResult& rank) {
  if (rank.steps.empty()) return 0;
  const std::int64_t sent = total(rank.training_volume, Traffic::kTraining).sent() +
                            total(rank.training_volume, Traffic::kControl).sent();
  return static_cast<double>(sent) / static_cast<double>(rank.steps.size());
}

std::int64_t predicted_sent_per_step(const Prediction& prediction) {
  return total(prediction.per_step, Traffic::kTraining).sent() +
         total(prediction.per_step, Traffic::kControl).sent();
}

std::size_t busiest_rank(const StageResult& result) {
  const auto busiest = std::ranges::max_element(result.ranks, {}, sent_per_step);
  return static_cast<std::size_t>(busiest - result.ranks.begin());
}

bool memory_as_predicted(const StageComparison& stage) {
  const std::vector<RankResult>& ranks = stage.result.ranks;
  if (stage.predicted.size() != ranks.size()) return false;
  const auto checks = static_cast<std::size_t>(Category::kChecks);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].peak_bytes != stage.predicted[r].peak_bytes) return false;
    for (std::size_t c = 0; c < checks; ++c) {
      if (ranks[r].peak_by_category[c] != stage.predicted[r].peak_by_category[c]) return false;
    }
  }
  return true;
}

bool traffic_as_predicted(const StageComparison& stage) {
  const std::vector<RankResult>& ranks = stage.result.ranks;
  if (stage.predicted.size() != ranks.size()) return false;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const auto steps = static_cast<std::int64_t>(ranks[r].steps.size());
    for (const Traffic traffic : {Traffic::kTraining, Traffic::kControl}) {
      const auto t = static_cast<std::size_t>(traffic);
      for (std::size_t op = 0; op < kCollectiveOpCount; ++op) {
        const Volume& measured = ranks[r].training_volume[t][op];
        const Volume& formula = stage.predicted[r].per_step[t][op];
        if (measured.sent() != steps * formula.sent() ||
            measured.received() != steps * formula.received()) {
          return false;
        }
      }
    }
  }
  return true;
}

std::optional<double> final_held_out_loss(const StageResult& result) {
  std::optional<double> last;
  if (result.ranks.empty()) return last;
  for (const StepRecord& step : result.steps()) {
    if (step.held_out_loss) last = step.held_out_loss;
  }
  return last;
}

std::int64_t whole_parameter_bytes(const Comparison& comparison) {
  constexpr auto kParameters = static_cast<std::size_t>(Category::kParameters);
  constexpr auto kGathered = static_cast<std::size_t>(Category::kGatheredParameters);
  std::int64_t whole = 0;
  for (const StageComparison& stage : comparison.stages) {
    std::int64_t largest = 0, together = 0;
    bool gathers = false;
    for (const RankResult& rank : stage.result.ranks) {
      largest = std::max(largest, rank.peak_by_category[kParameters]);
      together += rank.peak_by_category[kParameters];
      gathers = gathers || rank.peak_by_category[kGathered] > 0;
    }
    whole = std::max(whole, gathers ? together : largest);
  }
  return whole;
}

namespace {

bool found(const StageComparison& stage, const std::string& check) {
  return std::ranges::find(stage.findings, check, &Finding::check) != stage.findings.end();
}

}  // namespace

std::vector<std::string> checks_run(const Comparison& comparison, const StageComparison& stage) {
  std::vector<std::string> checks = comparison.config.checks;
  if (stage.compared_with.empty()) std::erase(checks, "REF");
  const bool broke_off = stage.result.steps().empty() && comparison.config.trained_steps() > 0;
  if (broke_off) std::erase_if(checks, [&](const auto& check) { return !found(stage, check); });
  return checks;
}

bool failed(const StageComparison& stage, const std::string& check) {
  const bool bits = stage.first_divergence.has_value() || stage.findings.empty();
  return found(stage, check) || (check == "REF" && stage.verdict == Verdict::kDiverged && bits);
}

CheckCount checks_passed(const Comparison& comparison, const StageComparison& stage) {
  CheckCount count;
  for (const std::string& check : checks_run(comparison, stage)) {
    ++count.run;
    if (!failed(stage, check)) ++count.passed;
  }
  return count;
}

}  // namespace zerolab
