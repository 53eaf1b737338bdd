#include "experiments/compare/compare_stages.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "experiments/compare/clean_runs.h"
#include "experiments/compare/envelope.h"
#include "experiments/compare/environment.h"
#include "experiments/compare/explain.h"
#include "experiments/compare/judge.h"
#include "experiments/compare/localise.h"
#include "experiments/config/asks_for.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

/// A comparison on its way: what has been run so far, and how to run more.
class Comparing {
 public:
  Comparing(World& world, const RunInputs& inputs, const ComparisonPlan& plan)
      : world_(world), inputs_(inputs), plan_(plan), layout_(layout_of(inputs.model)) {
    const RunConfig& config = inputs.config;
    terms_ = {config.ranks, config.steps, asks_for(config, "REF"), asks_for(config, "INV"), {}};
    for (const TensorSpec& tensor : layout_.tensors()) terms_.tensors.push_back(tensor.name);
    comparison_.config = config;
    comparison_.environment = this_environment();
    comparison_.reference = plan.reference;
    comparison_.notices = inputs.model.notices;
  }

  void run(const PlannedRun& planned, const ObserverFactory& observers) {
    CheckedRun finished = run_checked(world_, inputs_, planned, observers);
    StageComparison& stage = comparison_.stages.emplace_back();
    stage.result = std::move(finished.result);
    stage.predicted = std::move(finished.predicted);
    stage.compared_with = planned.compared_with;
    stage.findings = stage.result.findings();
    stage.explained = std::move(finished.explained);
  }

  void judge(std::size_t index) {
    StageComparison& stage = comparison_.stages[index];
    Judgement judgement;
    if (stage.compared_with.empty()) {
      judgement = judge_reference(stage.result, terms_);
      if (terms_.steps == 0 && stage.findings.empty())
        judgement = {Verdict::kEqual, "no step was trained", std::nullopt};
      note_local_order(stage);
    } else {
      const std::size_t reference = index_of(stage.compared_with);
      judgement = judge_against(reference, index);
      if (judgement.verdict == Verdict::kDiverged && judgement.difference) {
        stage.first_divergence = find_element(reference, index, *judgement.difference);
      }
    }
    if (judgement.verdict == Verdict::kEqual && !stage.explained.empty()) {
      judgement = {Verdict::kExplained, stage.explained.front(), std::nullopt};
    }
    stage.verdict = judgement.verdict;
    stage.reason = std::move(judgement.reason);
  }

  /// Where an order is open, and in 16 bits, whose rounding is of interest although the stages are
  /// equal.
  void measure_noise() {
    const RunConfig& config = inputs_.config;
    const bool wanted = order_is_open(config) || config.precision != "fp32";
    const bool compares = std::ranges::any_of(
        plan_.runs, [&](const PlannedRun& run) { return run.compared_with == plan_.reference; });
    if (!wanted || !compares || !has_other_orders(config)) return;
    const std::size_t reference = index_of(plan_.reference);
    const StageComparison& stage = comparison_.stages[reference];
    const std::vector<StepRecord>& steps = stage.result.steps();
    if (stage.verdict == Verdict::kDiverged || steps.empty()) return;

    const std::vector<std::vector<StepRecord>>& clean = permuted(reference);
    const Envelope envelope(clean);
    NoiseFloor& floor = comparison_.noise_floor.emplace();
    floor.clean_runs = static_cast<int>(clean.size()) - 1;
    floor.factor = kEnvelopeFactor;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      floor.loss.push_back(envelope.loss(i));
      floor.grad_norm.push_back(envelope.norm(i, static_cast<double>(steps[i].grad_norm)));
    }
    const RunConfig own = config_of(config, plan_.runs[reference]);
    const double bound = gradient_bound(own, own);
    if (!std::isfinite(bound)) return;
    floor.gradient_bound = bound;
    measure_bound(floor, reference, bound);
  }

  /// Where roundings as large as they can be lead, at worst: what the derived bound on a sum means
  /// for loss and norm.
  void measure_bound(NoiseFloor& floor, std::size_t reference, double bound) {
    // Two runs may be that far apart in a sum, one from the exact sum half of it.
    std::vector<std::vector<StepRecord>> runs =
        bounded_runs(world_, inputs_, plan_.runs[reference], bound / 2);
    const std::vector<StepRecord>& steps = comparison_.stages[reference].result.steps();
    runs.push_back(steps);
    const Envelope envelope(runs);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      floor.loss_bound.push_back(envelope.loss(i));
      floor.grad_norm_bound.push_back(envelope.norm(i, static_cast<double>(steps[i].grad_norm)));
    }
  }

  void judge_baseline(const Baseline& baseline) {
    std::vector<std::vector<StepRecord>> clean;
    if (!baseline.same_bits_expected(comparison_.environment)) {
      clean = perturbed_runs(world_, inputs_, plan_.runs.front());
      clean.push_back(comparison_.stages.front().result.steps());
    }
    baseline.judge(comparison_, terms_, clean);
  }

  Comparison take() {
    for (const StageComparison& stage : comparison_.stages) {
      comparison_.verdict = worse(comparison_.verdict, stage.verdict);
    }
    return std::move(comparison_);
  }

 private:
  std::size_t index_of(const std::string& name) const {
    const auto found = std::ranges::find(plan_.runs, name, &PlannedRun::name);
    require(found != plan_.runs.end(), "[compare] there is no run {}", name);
    return static_cast<std::size_t>(found - plan_.runs.begin());
  }

  Judgement judge_against(std::size_t reference, std::size_t candidate) {
    const StageResult& a = comparison_.stages[reference].result;
    const StageResult& b = comparison_.stages[candidate].result;
    Judgement bits = judge_bits(a, b, terms_);
    if (!bits.difference || !b.findings().empty()) return bits;
    if (order_is_open(inputs_.config, plan_.runs[reference], plan_.runs[candidate])) {
      bits = judge_noise(a, b, permuted(reference), terms_, std::move(bits));
      if (bits.verdict == Verdict::kDiverged) {
        comparison_.notices.push_back(fmt::format("{} is not noise: {}", b.name, bits.reason));
        return bits;
      }
    }
    return explained(reference, candidate, std::move(bits));
  }

  /// The reference in other orders, itself the last.
  const std::vector<std::vector<StepRecord>>& permuted(std::size_t reference) {
    if (permuted_.size() <= reference) permuted_.resize(reference + 1);
    std::vector<std::vector<StepRecord>>& clean = permuted_[reference];
    if (clean.empty()) {
      clean = permuted_runs(world_, inputs_, plan_.runs[reference]);
      clean.push_back(comparison_.stages[reference].result.steps());
    }
    return clean;
  }

  /// A named difference instead of `judgement`, where removing it makes the two equal.
  Judgement explained(std::size_t reference, std::size_t candidate, Judgement judgement) {
    const PlannedRun& a = plan_.runs[reference];
    const PlannedRun& b = plan_.runs[candidate];
    const Configured first{a, config_of(inputs_.config, a)};
    const Configured second{b, config_of(inputs_.config, b)};
    const std::optional<Explanation> why = explain(world_, inputs_, first, second);
    if (!why) return judgement;
    const StageResult& run = comparison_.stages[candidate].result;
    const StageResult& whole = comparison_.stages[reference].result;
    std::string size =
        fmt::format("; {} over {} steps", largest_distance(whole, run), run.steps().size());
    size += bound_text(world_, inputs_, *why, first, second,
                       loss_distance(whole.steps(), run.steps()).step);
    if (judgement.verdict == Verdict::kWithinNoise) {
      size += fmt::format(", and the loss stays inside the envelope of {} clean runs",
                          permuted(reference).size() - 1);
    }
    return {Verdict::kExplained, why->sentence() + size, std::move(judgement.difference)};
  }

  Divergence find_element(std::size_t reference, std::size_t candidate,
                          const BitDifference& difference) {
    const RunInputs a = inputs_of(inputs_, plan_.runs[reference]);
    const RunInputs b = inputs_of(inputs_, plan_.runs[candidate]);
    return localise(world_, {a, plan_.runs[reference]}, {b, plan_.runs[candidate]}, difference,
                    layout_);
  }

  /// The pair in local order rounds differently from the others: a figure, not a verdict.
  void note_local_order(const StageComparison& stage) {
    const auto reduced = std::ranges::find(comparison_.stages, stage.result.stage,
                                           [](const StageComparison& s) { return s.result.name; });
    const bool local = stage.result.name != stage.result.stage;
    if (!local || reduced == comparison_.stages.end() || stage.result.steps().empty()) return;
    comparison_.notices.push_back(fmt::format(
        "{} adds up each rank's micro-batches before it reduces, which rounds differently: {}",
        stage.result.name, largest_distance(reduced->result, stage.result)));
  }

  World& world_;
  const RunInputs& inputs_;
  const ComparisonPlan& plan_;
  ParameterLayout layout_;
  Terms terms_;
  Comparison comparison_;
  std::vector<std::vector<std::vector<StepRecord>>> permuted_;  // by reference run
};

}  // namespace

Comparison compare_stages(World& world, const RunInputs& inputs, const ComparisonPlan& plan,
                          const ObserverFactory& observers, const Baseline* baseline) {
  const auto start = std::chrono::steady_clock::now();
  Comparing comparing(world, inputs, plan);
  for (const PlannedRun& run : plan.runs) comparing.run(run, observers);
  for (std::size_t i = 0; i < plan.runs.size(); ++i) comparing.judge(i);
  comparing.measure_noise();
  if (baseline != nullptr) comparing.judge_baseline(*baseline);
  Comparison comparison = comparing.take();
  comparison.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return comparison;
}

}  // namespace zerolab
