#include "stages/memory/ledger.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "stages/core/error.h"

namespace zerolab {

void MemoryLedger::allocated(const std::string& name, Category category, std::int64_t bytes) {
  changed(name, category, bytes);
}

void MemoryLedger::freed(const std::string& name, Category category, std::int64_t bytes) {
  require(held(category) >= bytes, "[memory] '{}' frees {} bytes of {}, but only {} are held", name,
          bytes, name_of(category), held(category));
  changed(name, category, -bytes);
}

void MemoryLedger::set_moment(std::string moment) {
  moment_ = std::move(moment);
  if (recording_) moments_.push_back({moment_, static_cast<std::int64_t>(events_.size())});
}

void MemoryLedger::record_events(bool on) {
  if (on && !recording_) {
    moments_.push_back({moment_, static_cast<std::int64_t>(events_.size())});
  }
  recording_ = on;
}

void MemoryLedger::reset_peaks() {
  peak_ = held_;
  at_peak_ = held_;
  peak_total_ = total_;
  peak_moment_ = moment_;
}

void MemoryLedger::changed(const std::string& name, Category category, std::int64_t bytes) {
  const auto index = static_cast<std::size_t>(category);
  held_[index] += bytes;
  peak_[index] = std::max(peak_[index], held_[index]);
  // Detectors' own memory is shown but must not move the peak that is compared with the formula.
  if (category != Category::kChecks) total_ += bytes;
  if (total_ > peak_total_) {
    peak_total_ = total_;
    at_peak_ = held_;
    peak_moment_ = moment_;
  }
  if (recording_) {
    std::int64_t all = 0;
    for (const std::int64_t held_bytes : held_) all += held_bytes;
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    events_.push_back({std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(), name,
                       category, bytes, all, moment_});
  }
}

}  // namespace zerolab
