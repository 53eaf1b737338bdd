/// \file
/// The sections of report.html, each an HTML fragment.
#pragma once

#include <filesystem>
#include <string>

#include "experiments/compare/comparison.h"

namespace zerolab {

/// The verdict in words, the verdict table, and for each stage that differs the first divergence.
std::string verdict_section(const Comparison& comparison);
/// Findings by check; says so where there are none.
std::string findings_section(const Comparison& comparison);

/// Bytes held on the rank that holds most, by category, measured and predicted.
std::string memory_section(const Comparison& comparison);
/// Bytes sent in one step by the rank that sends most, by operation, measured and predicted.
std::string traffic_section(const Comparison& comparison);

/// Who holds what, what moves when: a drawing for each stage.
std::string pictures_section(const Comparison& comparison);

/// Options and environment.
std::string setup_section(const Comparison& comparison);

/// The plot `name` ("grad_norm") of `directory` inlined, in the page's own ink; empty when there is
/// none.
std::string inlined_plot(const std::filesystem::path& directory, const std::string& name,
                         const std::string& description);

/// The page's style sheet.
std::string page_style();

}  // namespace zerolab
