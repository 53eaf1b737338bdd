/// \file
/// Draws a plan through matplotlib.
#pragma once

#include <filesystem>
#include <string>

#include "experiments/plan/plan_report.h"

namespace zerolab {

/// Writes report.json, the plan with its sweep over ranks, and plan_*.png and .svg into
/// `directory`, which is created. Returns a notice when nothing could be drawn (no matplotlib).
/// \throws Failure when the files could not be written.
std::string draw_plan(const PlanReport& report, const std::filesystem::path& directory);

}  // namespace zerolab
