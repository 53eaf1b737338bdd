/// \file
/// Quantities as text, with their units: GB are 1e9 bytes, GiB are 2^30.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace zerolab {

/// "31.4 GB", "512 kB": decimal units, four digits.
inline std::string size_text(double bytes) {
  struct Unit {
    double factor;
    const char* name;
  };
  for (const Unit unit :
       {Unit{1e18, "EB"}, {1e15, "PB"}, {1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}}) {
    if (bytes >= unit.factor) return fmt::format("{:.4g} {}", bytes / unit.factor, unit.name);
  }
  return fmt::format("{:.4g} B", bytes);
}
inline std::string size_text(std::int64_t bytes) { return size_text(static_cast<double>(bytes)); }

inline std::string gib_text(std::int64_t bytes) {
  return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / (1 << 30));
}

inline std::string seconds_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", 1e3 * seconds);
  return fmt::format("{:.3g} µs", 1e6 * seconds);
}

/// The moment of a peak, or that it lasts.
inline std::string moment_text(const std::string& moment) {
  return moment.empty() ? "all times" : moment;
}

}  // namespace zerolab
