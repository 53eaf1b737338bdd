#include "experiments/cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace zerolab {
namespace {

constexpr std::int64_t kStepsBetweenLines = 10;
constexpr std::chrono::milliseconds kRedrawInterval{100};
/// Carriage return, then erase to the end of the line (ECMA-48, EL).
constexpr const char* kStartOfLine = "\r\x1b[K";

}  // namespace

std::string format_duration(double seconds) {
  const auto total = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  if (total < 3600) return fmt::format("{}:{:02}", total / 60, total % 60);
  return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
}

Progress::Progress(Console& console, std::string run, std::int64_t steps)
    : console_(console), run_(std::move(run)), steps_(steps) {}

Progress::~Progress() {
  // A run that broke off leaves its last line standing, and the message below it.
  if (line_open_) console_.err << '\n' << std::flush;
}

void Progress::step_ended(const StepRecord& record, Stage&) {
  training_seconds_ += record.seconds;
  tokens_ += record.tokens;
  const bool last = record.step == steps_;
  if (console_.terminal) {
    if (!last && Clock::now() - drawn_ < kRedrawInterval) return;
    drawn_ = Clock::now();
    console_.err << kStartOfLine;
  } else if (!last && record.step % kStepsBetweenLines != 0) {
    return;
  }
  print(record);
  line_open_ = console_.terminal && !last;
  if (!line_open_) console_.err << '\n';
  console_.err << std::flush;
}

void Progress::print(const StepRecord& record) {
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  const double left =
      elapsed / static_cast<double>(record.step) * static_cast<double>(steps_ - record.step);
  const double rate = training_seconds_ > 0 ? static_cast<double>(tokens_) / training_seconds_ : 0;
  console_.err << fmt::format("{:<12} step {:>{}}/{}  loss {:.4f}  {:.0f} tokens/s", run_,
                              record.step, std::to_string(steps_).size(), steps_, record.loss,
                              rate);
  console_.err << (record.step == steps_ ? fmt::format("  took {}", format_duration(elapsed))
                                         : fmt::format("  {} left", format_duration(left)));
}

}  // namespace zerolab
