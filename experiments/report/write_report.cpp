#include "experiments/report/write_report.h"

#include "experiments/report/fingerprints_file.h"
#include "experiments/report/junit.h"
#include "experiments/report/plots.h"
#include "experiments/report/report_html.h"
#include "experiments/report/report_json.h"
#include "experiments/report/steps_file.h"
#include "experiments/report/trace.h"
#include "stages/core/atomic_file.h"

namespace zerolab {

void write_stage_files(const StageResult& result, const std::vector<std::string>& tensors,
                       const RunDirectory& directory, bool trace) {
  const std::filesystem::path folder = directory.folder(result.name);
  write_steps(folder / "steps.jsonl", result);
  const std::vector<StepFingerprints> fingerprints = result.fingerprints();
  if (!fingerprints.empty()) {
    write_fingerprints(folder / "fingerprints.jsonl", fingerprints, tensors);
  }
  if (trace) write_file_atomically(folder / "trace.json", trace_json(result));
}

std::vector<std::string> write_report(const Comparison& comparison,
                                      const std::vector<std::string>& tensors,
                                      const RunDirectory& directory, bool plots) {
  for (const StageComparison& stage : comparison.stages) {
    write_stage_files(stage.result, tensors, directory, comparison.config.trace);
  }
  write_file_atomically(directory.path() / "report.json", report_json(comparison));
  write_file_atomically(directory.path() / "junit.xml", junit_xml(comparison));
  std::vector<std::string> notices;
  if (plots) {
    std::string notice = draw_plots(directory.path());
    if (!notice.empty()) notices.push_back(std::move(notice));
  }
  Comparison shown = comparison;
  shown.notices.insert(shown.notices.end(), notices.begin(), notices.end());
  write_file_atomically(directory.path() / "report.html", report_html(shown, directory.path()));
  return notices;
}

}  // namespace zerolab
