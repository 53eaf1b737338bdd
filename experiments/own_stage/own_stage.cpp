#include "experiments/own_stage/own_stage.h"

#include <algorithm>
#include <iostream>
#include <memory>

#include "experiments/cli/run_app.h"
#include "experiments/cli/setup.h"
#include "experiments/compare/compare_stages.h"
#include "experiments/config/asks_for.h"
#include "experiments/config/validate.h"
#include "experiments/runner/run_inputs.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

/// It stands in tables and is a directory's name, beside those of our own stages.
void require_fit(const std::string& name) {
  const bool fit =
      !name.empty() && name.front() != '.' && std::ranges::all_of(name, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
      });
  if (!fit) {
    bad_input("[own stage] '{}' is no fit name; use letters, digits, '-', '_' and '.'", name);
  }
  if (std::ranges::find(stage_names(), name) != stage_names().end()) {
    bad_input("[own stage] {} is the name of a stage of ours; choose another", name);
  }
}

ComparisonPlan plan_own_stage(const OwnStage& stage, const RunConfig& config, bool against_ddp) {
  const AccumulationOrder order = config.accumulation_order;
  ComparisonPlan plan{against_ddp ? "ddp" : stage.name, {}};
  if (against_ddp) plan.runs.push_back({"ddp", "ddp", "", order});
  plan.runs.push_back(
      {stage.name, stage.name, against_ddp ? "ddp" : "", order, false, stage.factory});
  return plan;
}

/// The rules of a configuration do not know the stage; they know DDP, which asks for no more.
RunConfig with_stages(RunConfig config, std::vector<std::string> stages) {
  config.stages = std::move(stages);
  return config;
}
std::vector<std::string> stages_of(const ComparisonPlan& plan) {
  std::vector<std::string> names;
  for (const PlannedRun& run : plan.runs) names.push_back(run.name);
  return names;
}

/// What the detectors that need a formula have left out.
void note_what_is_left_out(Comparison& comparison, bool against_ddp) {
  const auto has = [&](const char* check) { return asks_for(comparison.config, check); };
  if (has("COMM") || has("MEM")) {
    comparison.notices.emplace_back(
        "there is no formula for the bytes of a stage of your own: COMM compared the order of the "
        "ranks' calls, MEM looked for units that were not freed, and neither counted bytes");
  }
  if (has("REF") && !against_ddp) {
    comparison.notices.emplace_back(
        "nothing was compared with DDP; --reference ddp does that, bit by bit");
  }
}

/// The first difference to DDP, as what REF found.
Finding reference_finding(const StageComparison& stage) {
  Finding finding;
  finding.check = "REF";
  finding.message = stage.reason;
  if (const auto& divergence = stage.first_divergence) {
    finding.step = divergence->step;
    finding.phase = divergence->phase;
    finding.tensor = divergence->tensor;
    finding.rank = divergence->rank;
    finding.element = divergence->element;
    finding.expected = divergence->reference_value;
    finding.value = divergence->value;
    finding.ulp = divergence->ulp;
  }
  return finding;
}

struct Options {
  RunOptions run;
  std::string reference = "none";
};

int check(Console& console, const OwnStage& stage, const Options& options) {
  require_fit(stage.name);
  require_known("--reference", options.reference, {"none", "ddp"});
  const bool against_ddp = options.reference == "ddp";
  Setup setup =
      set_up(console, options.run, configure(console, options.run, Purpose::kCompare).config,
             Purpose::kCompare);
  const ComparisonPlan plan = plan_own_stage(stage, setup.config, against_ddp);
  setup.config.stages = stages_of(plan);
  Comparison comparison = compare_stages(*setup.world, setup.inputs(), plan,
                                         progress_of(console, options.run), nullptr);
  note_what_is_left_out(comparison, against_ddp);
  publish(console, setup, comparison);
  return comparison.verdict == Verdict::kDiverged ? 1 : 0;
}

}  // namespace

RunConfig own_stage_config() {
  RunConfig config;
  config.stages = {"ddp"};
  config.model = "gpt-micro";
  config.ranks = 3;
  config.steps = 5;
  config.micro_batch = 2;
  config.warmup_steps = 1;
  config.bucket_mb = 0.02;
  config.evaluate_every = config.steps;  // so that the last update's parameters are looked at, too
  config.timeout_seconds = 60;
  config.checks = {"REF", "XR", "NORM", "INV", "PROV", "COMM", "MEM", "ORD", "REP", "IG"};
  config.guarded = true;
  return config;
}

Comparison compare_own_stage(const OwnStage& stage, RunConfig config, bool against_ddp) {
  require_fit(stage.name);
  const ComparisonPlan plan = plan_own_stage(stage, config, against_ddp);
  const ModelSpec model = model_of(config);
  validate(with_stages(config, {"ddp"}), model, Purpose::kCompare);
  config = with_stages(std::move(config), stages_of(plan));
  const RunData data(config, model);
  const auto world = make_thread_world(config.ranks, config.timeout_seconds);
  Comparison comparison =
      compare_stages(*world, {config, model, &data.batches()}, plan, {}, nullptr);
  note_what_is_left_out(comparison, against_ddp);
  return comparison;
}

std::vector<Finding> own_stage_findings(const OwnStage& stage, const RunConfig& config,
                                        bool against_ddp) {
  const Comparison comparison = compare_own_stage(stage, config, against_ddp);
  const StageComparison& first = comparison.stages.front();
  if (against_ddp && first.verdict == Verdict::kDiverged) {
    fail("[own stage] DDP cannot serve as the reference: {}", first.reason);
  }
  const StageComparison& own = comparison.stages.back();
  std::vector<Finding> findings = own.findings;
  const bool other_reason = own.first_divergence.has_value() || findings.empty();
  if (own.verdict == Verdict::kDiverged && other_reason) {
    findings.insert(findings.begin(), reference_finding(own));
  }
  return findings;
}

int check_own_stage(const OwnStage& stage, int argc, const char* const* argv, std::ostream& out,
                    std::ostream& err) {
  Options options;
  options.run.config = own_stage_config();
  options.run.plots = "off";  // it will be run often
  const AddCommands add = [&](CLI::App& app, Command& chosen) {
    add_run_options(app, options.run);
    app.option_defaults()->group("Comparison");
    app.add_option("--reference", options.reference,
                   "also train DDP, and compare with it bit by bit")
        ->type_name("none|ddp")
        ->capture_default_str();
    chosen = [&](Console& console) { return check(console, stage, options); };
  };
  return run_app({stage.name, "Trains a stage of your own under every detector.",
                  "Exit codes: 0 nothing found, 1 something found, 2 bad input, 3 failure while "
                  "running."},
                 add, argc, argv, out, err);
}

int check_own_stage(const OwnStage& stage, int argc, const char* const* argv) {
  return check_own_stage(stage, argc, argv, std::cout, std::cerr);
}

}  // namespace zerolab
