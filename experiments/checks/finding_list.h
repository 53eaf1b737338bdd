/// \file
/// Findings of one check on one rank, up to a limit.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "experiments/checks/finding.h"

namespace zerolab {

/// "element 5", "elements 4096–8191"; `end` is exclusive.
inline std::string describe_elements(std::int64_t begin, std::int64_t end) {
  if (end - begin == 1) return fmt::format("element {}", begin);
  return fmt::format("elements {}–{}", begin, end - 1);
}

/// The verb behind `describe_elements`.
inline const char* hold(std::int64_t begin, std::int64_t end) {
  return end - begin == 1 ? "holds" : "hold";
}

/// A fault usually shows everywhere at once: the first findings are kept, later ones are counted.
class FindingList {
 public:
  static constexpr std::size_t kLimit = 16;

  void add(Finding finding) {
    if (kept_.size() < kLimit) {
      kept_.push_back(std::move(finding));
    } else {
      ++dropped_;
    }
  }
  bool full() const { return kept_.size() >= kLimit; }

  /// What was kept; the last one tells how many more there were.
  std::vector<Finding> take() {
    if (dropped_ > 0) kept_.back().message += fmt::format(" (and {} more like it)", dropped_);
    dropped_ = 0;
    return std::exchange(kept_, {});
  }

 private:
  std::vector<Finding> kept_;
  std::int64_t dropped_ = 0;
};

}  // namespace zerolab
