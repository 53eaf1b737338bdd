/// \file
/// report.html, the comparison for people.
#pragma once

#include <filesystem>
#include <string>

#include "experiments/compare/comparison.h"

namespace zerolab {

/// One file without scripts or outside resources, for screens from 400 pixels, dark or light, and
/// for paper. The plots are taken from `directory` (loss.svg, …) where they exist.
std::string report_html(const Comparison& comparison, const std::filesystem::path& directory);

}  // namespace zerolab
