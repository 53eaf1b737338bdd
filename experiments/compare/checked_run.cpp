#include "experiments/compare/checked_run.h"

#include <algorithm>

#include "experiments/checks/check_factory.h"
#include "experiments/checks/memory_check.h"
#include "experiments/checks/provenance.h"
#include "experiments/checks/variants.h"
#include "experiments/checks/volume_check.h"
#include "experiments/compare/explain.h"
#include "experiments/compare/judge.h"
#include "experiments/config/asks_for.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

void append(std::vector<Finding>& to, std::vector<Finding> more) {
  std::ranges::move(more, std::back_inserter(to));
}

/// What every rank found before training, by rank.
std::vector<std::vector<Finding>> find_provenance(World& world, const RunInputs& inputs,
                                                  const StageRun& run) {
  std::vector<std::vector<Finding>> by_rank;
  world.run([&](RankContext& ranks) {
    RankResult mine;
    mine.findings = check_provenance(ranks, inputs, run);
    const std::vector<std::string> all = ranks.gather_texts(serialize(mine));
    if (ranks.rank() != world.local_rank()) return;
    for (const std::string& text : all) by_rank.push_back(deserialize(text).findings);
  });
  return by_rank;
}

/// COMM and MEM: the bytes of the finished run against the formula, where there is one.
void check_result(const RunConfig& config, CheckedRun& run) {
  std::vector<RankResult>& ranks = run.result.ranks;
  for (std::size_t r = 0; r < run.predicted.size(); ++r) {
    if (asks_for(config, "COMM")) {
      append(ranks[r].findings, check_volume(ranks[r], run.predicted[r], config));
    }
    if (asks_for(config, "MEM")) {
      append(ranks[r].findings, check_memory(ranks[r], run.predicted[r], config));
    }
  }
  if (asks_for(config, "COMM")) append(ranks.front().findings, check_collectives(run.result));
}

/// REP and IG: the same bits from a run that is different in what must not matter.
void check_repetitions(World& world, const RunInputs& inputs, const PlannedRun& planned,
                       CheckedRun& run) {
  const RunConfig& config = inputs.config;
  std::vector<Variant> variants;
  if (asks_for(config, "REP")) variants = repetitions(config);
  if (asks_for(config, "IG")) {
    std::ranges::move(regroupings(config, planned.stage, planned.order),
                      std::back_inserter(variants));
  }
  if (variants.empty()) return;
  const auto repeat = [&](const RunConfig& varied) {
    RunInputs own = inputs;
    own.config = varied;
    StageRun again = stage_run(planned);
    again.checks = [](const CheckContext& context) {
      return make_checks(context.config.checks, context);
    };
    if (varied.ranks == world.world_size()) return run_stage(world, own, again);
    return run_stage(*make_thread_world(varied.ranks, varied.timeout_seconds), own, again);
  };
  const auto accounted_for = [&](const Variant& variant, const StageResult& varied) {
    if (planned.faulty) return false;
    const Configured original{planned, config}, other{planned, variant.config};
    const std::optional<Explanation> why = explain(world, inputs, original, other);
    if (!why) return false;
    const LossDistance distance = loss_distance(run.result.steps(), varied.steps());
    run.explained.push_back(
        fmt::format("{} {}; {} over {} steps{}", variant.what, why->sentence(),
                    largest_distance("the original's", distance), varied.steps().size(),
                    bound_text(world, inputs, *why, original, other, distance.step)));
    return true;
  };
  append(run.result.ranks.front().findings,
         check_variants(run.result, layout_of(inputs.model), variants, repeat, accounted_for));
}

/// A run that broke off: ranks without steps, and why.
StageResult broken_off(const StageRun& run, int ranks, Finding finding) {
  StageResult result;
  result.name = run.name;
  result.stage = run.stage;
  result.ranks.resize(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) result.ranks[static_cast<std::size_t>(r)].rank = r;
  const int culprit = finding.rank >= 0 && finding.rank < ranks ? finding.rank : 0;
  result.ranks[static_cast<std::size_t>(culprit)].findings.push_back(std::move(finding));
  return result;
}

StageResult train(World& world, const RunInputs& inputs, const StageRun& run) {
  std::vector<std::vector<Finding>> provenance;
  if (asks_for(inputs.config, "PROV")) provenance = find_provenance(world, inputs, run);
  StageResult result = run_stage(world, inputs, run);
  for (std::size_t r = 0; r < provenance.size(); ++r) {
    append(result.ranks.at(r).findings, std::move(provenance[r]));
  }
  return result;
}

}  // namespace

RunInputs inputs_of(const RunInputs& inputs, const PlannedRun& run) {
  RunInputs own = inputs;
  own.config = config_of(inputs.config, run);
  if (!run.faulty) own.fault = nullptr;
  return own;
}

CheckedRun run_checked(World& world, const RunInputs& inputs, const PlannedRun& planned,
                       const ObserverFactory& observers) {
  const RunInputs own = inputs_of(inputs, planned);
  StageRun run = stage_run(planned);
  run.checks = [](const CheckContext& context) {
    return make_checks(context.config.checks, context);
  };
  if (observers) {
    run.observers = [&](const CheckContext& context) { return observers(context, planned.name); };
  }

  CheckedRun finished;
  for (int r = 0; r < own.config.ranks && !planned.own(); ++r) {
    finished.predicted.push_back(predict(planned.stage, own.config, own.model, r));
  }
  try {
    finished.result = train(world, own, run);
  } catch (const Failure& failure) {
    std::optional<Finding> finding = collective_finding(failure);
    if (!(planned.faulty || planned.own()) || !finding) throw;
    finished.result = broken_off(run, own.config.ranks, std::move(*finding));
    return finished;
  }
  check_result(own.config, finished);
  try {
    check_repetitions(world, own, planned, finished);
  } catch (const Failure& failure) {
    std::optional<Finding> finding = collective_finding(failure);
    if (!(planned.faulty || planned.own()) || !finding) throw;
    finding->message = "in a repetition: " + finding->message;
    finished.result.ranks.front().findings.push_back(std::move(*finding));
  }
  return finished;
}

}  // namespace zerolab
