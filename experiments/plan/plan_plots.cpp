#include "experiments/plan/plan_plots.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "experiments/plan/sweep.h"
#include "experiments/report/plots.h"
#include "stages/core/atomic_file.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

/// When the operations of each stage's second step run, from the end of the first.
Json timelines(const PlanRequest& request) {
  Json json = Json::array();
  if (!request.time.cluster.timed()) return json;
  for (const std::string& stage : request.stages) {
    const Recipe recipe = recipe_of(stage, request.recipe);
    const Setting setting = plan_setting(recipe, request.model, 0);
    const StepProgram program = step_program(stage, recipe, request.model, setting, request.time,
                                             std::min(recipe.run.accumulate, kMostMicroBatches), 2);
    const OperationTimes times = operation_times(program);
    const std::size_t first = program.updates[0];
    Json operations = Json::array();
    for (std::size_t i = first + 1; i <= program.updates[1]; ++i) {
      const StepOperation& operation = program.operations[i];
      operations.push_back({{"stream", operation.collective ? "communication" : "compute"},
                            {"name", operation.name},
                            {"begin", times.begin[i] - times.end[first]},
                            {"end", times.end[i] - times.end[first]}});
    }
    json.push_back({{"stage", stage}, {"operations", std::move(operations)}});
  }
  return json;
}

}  // namespace

std::string draw_plan(const PlanReport& report, const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) fail("[plots] cannot create {}: {}", directory.string(), error.message());
  Json json = plan_json(report);
  json["timelines"] = timelines(report.request);
  json["sweep"] = sweep_json(sweep_ranks(report.request));
  write_file_atomically(directory / "report.json", dumped(json, 2) + "\n");
  return draw_plots(directory, ZEROLAB_PYTHON, ZEROLAB_PLAN_PLOTS);
}

}  // namespace zerolab
