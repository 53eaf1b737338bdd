/// \file
/// Figures for people and for programs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/bench/figure.h"
#include "experiments/bench/machine.h"

namespace zerolab {

struct BenchReport {
  std::string command;  ///< "zerolab bench steps"
  Machine machine;
  std::vector<Figure> figures;
  std::vector<std::string> notices;
};

inline constexpr const char* kBenchSchema = "zerolab.bench/1";

/// Three or four digits: "0.871", "1.42", "11,380".
std::string number_text(double value);
/// "1.42 (1.39 to 1.44)"; a single sample has no spread.
std::string spread_text(const Spread& spread);
/// "≥ 1.10", "≤ 1.03", "0.950 to 1.05"; empty without a goal.
std::string must_text(const Figure& figure);
std::string aim_text(const Figure& figure);

/// Aligned columns, one block a meaning, for a terminal.
std::string bench_table(const BenchReport& report);
/// The same as tables of Markdown.
std::string bench_markdown(const BenchReport& report);
std::string bench_json(const BenchReport& report);

/// A Markdown file with a place for results: between the lines `<!-- results -->` and
/// `<!-- end -->`.
class ResultsPage {
 public:
  /// \throws BadInput when the file cannot be read or has no such place.
  explicit ResultsPage(std::filesystem::path path);
  /// Replaces what stands in the place. \throws Failure
  void write(const std::string& results) const;

 private:
  std::filesystem::path path_;
  std::string before_, after_;
};

}  // namespace zerolab
