#include "experiments/diff/explain_diff.h"

#include "experiments/report/report_json.h"
#include "experiments/runner/run_inputs.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

namespace fs = std::filesystem;

/// The run's report, whether `path` is the run's directory or one stage's.
Comparison report_of(const fs::path& path) {
  for (const fs::path& directory : {path, fs::absolute(path).lexically_normal().parent_path()}) {
    const fs::path report = directory / "report.json";
    if (fs::exists(report)) return read_report(report.string());
  }
  bad_input("[diff] {} has no report.json, which tells how the run was made; leave --explain out",
            path.string());
}

Configured configured(const Comparison& report, const std::string& name) {
  constexpr const char* kLocal = ".local";
  const bool local = name.ends_with(kLocal);
  const std::string stage =
      local ? name.substr(0, name.size() - std::char_traits<char>::length(kLocal)) : name;
  Configured run{{name, stage, "", AccumulationOrder::kReduced, false, {}}, report.config};
  run.config.comm = "thread";
  run.config.fault.clear();
  const bool usual = run.config.usual_order && supports_local_accumulation(stage);
  if (local || usual) run.config.accumulation_order = AccumulationOrder::kLocal;
  return run;
}

}  // namespace

std::optional<std::string> explain_diff(const fs::path& a, const fs::path& b,
                                        const StageDiff& stages) {
  const Configured first = configured(report_of(a), stages.a);
  const Configured second = configured(report_of(b), stages.b);
  if (first.config.model != second.config.model) {
    bad_input("[diff] {} trained {} and {} trained {}; --explain needs runs of one model",
              a.string(), first.config.model, b.string(), second.config.model);
  }
  RunInputs inputs;
  inputs.config = first.config;
  inputs.model = model_of(first.config);
  const auto world = make_thread_world(first.config.ranks, first.config.timeout_seconds);
  const std::optional<Explanation> why = explain(*world, inputs, first, second);
  if (!why) return std::nullopt;
  return fmt::format("{}; {} over {} steps{}", why->sentence(),
                     largest_distance("the other's", stages.loss), stages.steps,
                     bound_text(*world, inputs, *why, first, second, stages.loss.step));
}

}  // namespace zerolab
