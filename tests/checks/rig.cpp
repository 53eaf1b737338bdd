#include "tests/checks/rig.h"

#include <mutex>

#include "experiments/checks/provenance.h"

namespace zerolab::test {
namespace {

template <class Run>
auto with_inputs(const RunConfig& config, const Fault* fault, Run&& run) {
  const ModelSpec model = model_of(config);
  const RunData data(config, model);
  const auto world = make_thread_world(config.ranks);
  return run(*world, RunInputs{config, model, &data.batches(), fault});
}

}  // namespace

RunConfig micro_config(int ranks, int accumulate) {
  RunConfig config;
  config.model = "gpt-micro";
  config.ranks = ranks;
  config.accumulate = accumulate;
  config.steps = 4;
  config.micro_batch = 2;
  config.warmup_steps = 2;
  config.clip = 0.5;
  config.bucket_mb = 0.0271;
  config.evaluate_every = 2;
  config.held_out_batches = 3;
  config.timeout_seconds = 20;
  return config;
}

StageRun stage_run(const std::string& stage, AccumulationOrder order) {
  return {stage, stage, stage_factory(stage), order, {}, {}};
}

StageResult train(const RunConfig& config, const StageRun& run, const Fault* fault) {
  StageRun checked = run;
  checked.checks = [&](const CheckContext& context) { return make_checks(config.checks, context); };
  return with_inputs(config, fault, [&](World& world, const RunInputs& inputs) {
    return run_stage(world, inputs, checked);
  });
}

StageResult train(const RunConfig& config, const std::string& stage, const Fault* fault) {
  return train(config, stage_run(stage, config.accumulation_order), fault);
}

StageResult train_on(const DisturbData& disturb, const RunConfig& config, const StageRun& run) {
  StageRun checked = run;
  checked.checks = [&](const CheckContext& context) { return make_checks(config.checks, context); };
  return with_inputs(config, nullptr, [&](World& world, RunInputs inputs) {
    const auto disturbed = disturb(*inputs.data);
    inputs.data = disturbed.get();
    return run_stage(world, inputs, checked);
  });
}

std::vector<Finding> provenance(const RunConfig& config, const StageRun& run, const Fault* fault) {
  return with_inputs(config, fault, [&](World& world, const RunInputs& inputs) {
    std::mutex mutex;
    std::vector<std::vector<Finding>> by_rank(static_cast<std::size_t>(config.ranks));
    world.run([&](RankContext& ranks) {
      auto found = check_provenance(ranks, inputs, run);
      const std::scoped_lock lock(mutex);
      by_rank[static_cast<std::size_t>(ranks.rank())] = std::move(found);
    });
    std::vector<Finding> all;
    for (const auto& found : by_rank) all.insert(all.end(), found.begin(), found.end());
    return all;
  });
}

ParameterLayout layout_of(const RunConfig& config) { return zerolab::layout_of(model_of(config)); }

std::vector<Finding> of(const std::string& check, const std::vector<Finding>& findings) {
  std::vector<Finding> found;
  for (const Finding& finding : findings) {
    if (finding.check == check) found.push_back(finding);
  }
  return found;
}

std::string text_of(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) text += finding.check + ": " + finding.message + "\n";
  return text;
}

}  // namespace zerolab::test
