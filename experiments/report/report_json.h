/// \file
/// report.json, the comparison for programs (schema "zerolab.report/2").
#pragma once

#include <string>

#include "experiments/compare/comparison.h"

namespace zerolab {

inline constexpr const char* kReportSchema = "zerolab.report/2";

/// The comparison as a JSON text. Doubles round-trip; NaN and infinities are null and named in the
/// "nonfinite" of the same object. The step's timeline is kept for the first two ranks, spans,
/// fingerprints and data positions not at all: they have files of their own.
std::string report_json(const Comparison& comparison);

/// Reads back what `report_json` wrote (but for what it leaves out).
/// \throws BadInput in one sentence with file and key when the file is missing, cut short, of
/// another schema or inconsistent in itself.
Comparison read_report(const std::string& path);

}  // namespace zerolab
