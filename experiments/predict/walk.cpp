#include "experiments/predict/walk.h"

#include <algorithm>

namespace zerolab {

std::vector<ReadingRun> reading_runs(std::span<const Use> uses) {
  std::vector<ReadingRun> runs;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (!uses[i].reads_parameters) continue;
    const bool goes_on =
        !runs.empty() && runs.back().unit == uses[i].unit && runs.back().last + 1 == i;
    if (goes_on) {
      runs.back().last = i;
    } else {
      runs.push_back({uses[i].unit, i, i});
    }
  }
  return runs;
}

std::vector<std::int64_t> gathered_by_use(std::span<const Use> uses,
                                          std::span<const std::int64_t> lengths, bool overlap) {
  std::vector<std::int64_t> elements(uses.size(), 0);
  const std::vector<ReadingRun> runs = reading_runs(uses);
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const bool prefetched = overlap && k > 0 && runs[k - 1].unit != runs[k].unit;
    const std::size_t arrives = prefetched ? runs[k - 1].first : runs[k].first;
    for (std::size_t use = arrives; use <= runs[k].last; ++use) {
      elements[use] += lengths[static_cast<std::size_t>(runs[k].unit)];
    }
  }
  return elements;
}

std::vector<GradientsAt> gradients_by_use(std::span<const Use> uses,
                                          std::span<const std::int64_t> lengths,
                                          std::span<const std::int64_t> lengths_of_absent) {
  std::vector<bool> absent(lengths.size(), true), complete(lengths.size(), true);
  for (const Use& use : uses) {
    if (!use.completes_gradient) continue;
    const auto unit = static_cast<std::size_t>(use.unit);
    absent[unit] = complete[unit] = false;
  }

  std::vector<GradientsAt> elements;
  std::vector<bool> held(lengths.size(), false);
  std::int64_t sum = 0;
  std::size_t turn = 0;
  for (const Use& use : uses) {
    const auto unit = static_cast<std::size_t>(use.unit);
    if (use.phase == Phase::kBackward && !held[unit]) {
      held[unit] = true;
      sum += lengths[unit];
    }
    GradientsAt at{sum, sum};
    if (use.completes_gradient) complete[unit] = true;
    for (; use.completes_gradient && turn < lengths.size() && complete[turn]; ++turn) {
      if (absent[turn]) at.handing_on = std::max(at.handing_on, sum + lengths_of_absent[turn]);
      if (held[turn]) sum -= lengths[turn];
      held[turn] = false;
    }
    elements.push_back(at);
  }
  return elements;
}

}  // namespace zerolab
