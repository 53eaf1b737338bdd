#include "experiments/plan/plan_plots.h"

#include <nlohmann/json.hpp>

#include "experiments/plan/sweep.h"
#include "experiments/report/plots.h"
#include "stages/core/atomic_file.h"
#include "stages/core/error.h"

namespace zerolab {

std::string draw_plan(const PlanReport& report, const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) fail("[plots] cannot create {}: {}", directory.string(), error.message());
  Json json = plan_json(report);
  json["sweep"] = sweep_json(sweep_ranks(report.request));
  write_file_atomically(directory / "report.json", dumped(json, 2) + "\n");
  return draw_plots(directory, ZEROLAB_PYTHON, ZEROLAB_PLAN_PLOTS);
}

}  // namespace zerolab
