#include "experiments/cli/fault_report.h"

#include <fmt/format.h>

#include "stages/core/join.h"

namespace zerolab {
namespace {

std::string detector_line(const DetectorOutcome& detector) {
  const std::string& check = detector.expected.check;
  if (!detector.fired) {
    return detector.asked ? fmt::format("{:<5} did not fire", check)
                          : fmt::format("{:<5} was not among --check", check);
  }
  if (detector.localised) return fmt::format("{:<5} fired: {}", check, detector.said);
  return fmt::format("{:<5} fired, but did not name \"{}\": {}", check, detector.expected.names,
                     detector.said);
}

}  // namespace

void print_outcome(Console& console, const FaultOutcome& outcome) {
  const FaultLabel& label = outcome.label;
  console.out << fmt::format("\nfault {} in {} ({})\n  {}\n", label.name, label.stage, label.source,
                             label.happened);
  for (const DetectorOutcome& detector : outcome.expected) {
    console.out << "  " << detector_line(detector) << '\n';
  }
  if (!outcome.others.empty()) {
    console.out << fmt::format("  fired as well: {}\n", joined(outcome.others));
  }
  for (const std::string& alarm : outcome.false_alarms) {
    console.out << fmt::format("  false alarm: {}\n", alarm);
  }
  console.out << (outcome.caught() ? "caught and localised by every detector that must fire\n"
                                   : "not caught as it must be\n")
              << std::flush;
}

}  // namespace zerolab
