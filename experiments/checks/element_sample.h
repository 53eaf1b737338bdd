/// \file
/// Which elements of the parameter tensors a check looks at.
#pragma once

#include <cstdint>
#include <vector>

#include "stages/core/view.h"
#include "stages/model/layout.h"

namespace zerolab {

/// A run of elements of one tensor, and where it lies when all runs are put behind one another.
struct SampledRun {
  int tensor = 0;
  Range elements;
  std::int64_t offset = 0;
};

/// Runs in order of (tensor, begin), without overlap; the same on every rank.
class ElementSample {
 public:
  static ElementSample all(const ParameterLayout& layout);
  /// About `fraction` of the elements: runs of 64, one in each of equal stretches of a tensor, at
  /// places drawn from (seed, step). Every tensor has at least one.
  static ElementSample drawn(const ParameterLayout& layout, double fraction, std::uint64_t seed,
                             std::int64_t step);

  const std::vector<SampledRun>& runs() const { return runs_; }
  /// Elements in all runs.
  std::int64_t count() const { return count_; }
  /// The parts of runs that lie in `elements` of `tensor`.
  std::vector<SampledRun> within(int tensor, Range elements) const;

 private:
  void append(int tensor, Range elements);

  std::vector<SampledRun> runs_;
  std::int64_t count_ = 0;
};

}  // namespace zerolab
