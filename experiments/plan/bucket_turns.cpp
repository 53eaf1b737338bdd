#include "experiments/plan/bucket_turns.h"

namespace zerolab {
namespace {

/// Buckets `first` to `end` of all, the last of which is perhaps shorter.
BucketGroup group(const std::vector<EqualCuts>& cuts, std::int64_t first, std::int64_t end) {
  std::int64_t all = 0;
  for (const EqualCuts& equal : cuts) all += equal.count;
  const bool shorter = cuts.size() > 1 && end == all && end > first;
  return {end - first - (shorter ? 1 : 0), shorter ? cuts.back().length : 0};
}

}  // namespace

BucketTurns bucket_turns(const Setting& setting) {
  const std::vector<EqualCuts> cuts = equal_buckets(setting);
  std::int64_t all = 0;
  for (const EqualCuts& equal : cuts) all += equal.count;
  const std::vector<UnitLayout>& units = setting.layout.units();
  BucketTurns turns;
  turns.length = cuts.front().length;
  std::vector<std::int64_t> begins;
  std::int64_t flat = 0;
  for (std::size_t u = 0; u < units.size(); ++u) {
    begins.push_back(flat);
    const std::int64_t first = flat / turns.length;
    flat += units[u].size;
    const bool last_unit = u + 1 == units.size();
    turns.complete.push_back(group(cuts, first, last_unit ? all : flat / turns.length));
  }
  turns.brought.resize(units.size());
  std::int64_t end = all;
  for (std::size_t u = units.size(); u-- > 0;) {
    const std::int64_t first = std::min(end, begins[u] / turns.length);
    turns.brought[u] = group(cuts, first, end);
    end = first;
  }
  return turns;
}

std::vector<std::vector<UnitId>> turns_by_use(const Setting& setting) {
  const std::vector<Use>& uses = setting.uses.training;
  std::vector<bool> complete(setting.layout.units().size(), false);
  std::vector<std::vector<UnitId>> turns(uses.size());
  std::size_t turn = 0;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (!uses[i].completes_gradient) continue;
    complete[static_cast<std::size_t>(uses[i].unit)] = true;
    for (; turn < complete.size() && complete[turn]; ++turn) {
      turns[i].push_back(static_cast<UnitId>(turn));
    }
  }
  return turns;
}

}  // namespace zerolab
