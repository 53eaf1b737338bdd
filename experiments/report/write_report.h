/// \file
/// Everything that a run leaves behind.
#pragma once

#include <string>
#include <vector>

#include "experiments/compare/comparison.h"
#include "experiments/report/run_directory.h"

namespace zerolab {

/// Writes report.json, report.html, junit.xml, the plots, and for each stage steps.jsonl,
/// fingerprints.jsonl (where there are any) and, with `--trace`, trace.json. The caller commits.
/// `tensors`: the layout's names, in order. Without `plots`, those are left out. Returns notices
/// for the user, such as missing plots. \throws Failure (disk full, …).
std::vector<std::string> write_report(const Comparison& comparison,
                                      const std::vector<std::string>& tensors,
                                      const RunDirectory& directory, bool plots = true);

/// The files of one stage alone, into `directory`/NAME.
void write_stage_files(const StageResult& result, const std::vector<std::string>& tensors,
                       const RunDirectory& directory, bool trace);

}  // namespace zerolab
