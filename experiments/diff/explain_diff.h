/// \file
/// Why two stored runs differ, found by training both again.
#pragma once

#include <filesystem>
#include <optional>

#include "experiments/compare/explain.h"
#include "experiments/diff/diff.h"

namespace zerolab {

/// Reads the configurations of both runs from their report.json and looks for the smallest set of
/// switches with which the two stages have the same bits (compare/explain.h), on thread ranks. Data
/// and weight files are read again where they were. Returns cause, switches, size and bound in one
/// sentence; nullopt where no set makes them equal.
/// \throws BadInput when a report is missing, or the two trained different models.
std::optional<std::string> explain_diff(const std::filesystem::path& a,
                                        const std::filesystem::path& b, const StageDiff& stages);

}  // namespace zerolab
