/// \file
/// Draws loss, gradient norm, memory, communication and throughput through matplotlib.
#pragma once

#include <filesystem>
#include <string>

namespace zerolab {

/// Writes NAME.png and NAME.svg into `directory`, from its report.json. Returns a notice when they
/// could not be drawn (no matplotlib), which is no error: everything else is written without them.
/// \throws Failure when the files could not be written (disk full, …).
std::string draw_plots(const std::filesystem::path& directory);

/// The same with another Python and script.
std::string draw_plots(const std::filesystem::path& directory, const std::string& python,
                       const std::string& script);

}  // namespace zerolab
