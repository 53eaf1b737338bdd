#include "experiments/checks/ownership.h"

#include <algorithm>
#include <map>

#include "experiments/checks/finding_list.h"
#include "stages/comm/call_header.h"

namespace zerolab {

std::vector<OwnedRun> owned_runs(Stage& stage, Category category) {
  std::vector<OwnedRun> runs;
  stage.visit_owned(category, [&](const OwnedSlice& slice) {
    for (const Segment& s : slice.segments) {
      runs.push_back({s.tensor, slice.replicated, {s.tensor_begin, s.tensor_begin + s.count}});
    }
  });
  return runs;
}

std::vector<Finding> check_ownership(const ParameterLayout& layout, Category category,
                                     const std::vector<std::vector<OwnedRun>>& by_rank,
                                     std::string_view check, std::string_view phase) {
  std::vector<Finding> findings;
  for (int t = 0; t < static_cast<int>(layout.tensors().size()); ++t) {
    const TensorSpec& tensor = layout.tensor(t);
    // Where the set of holders changes, and how.
    struct Change {
      std::vector<int> begins, ends;
    };
    std::map<std::int64_t, Change> changes;
    changes[0];
    changes[tensor.count()];
    bool replicated = false;
    for (std::size_t r = 0; r < by_rank.size(); ++r) {
      for (const OwnedRun& run : by_rank[r]) {
        if (run.tensor != t || run.elements.empty()) continue;
        replicated = replicated || run.replicated;
        changes[run.elements.begin].begins.push_back(static_cast<int>(r));
        changes[run.elements.end].ends.push_back(static_cast<int>(r));
      }
    }
    std::vector<int> holders;
    for (auto change = changes.begin(); change != changes.end(); ++change) {
      for (const int rank : change->second.ends) {
        holders.erase(std::find(holders.begin(), holders.end(), rank));
      }
      holders.insert(holders.end(), change->second.begins.begin(), change->second.begins.end());
      const auto next = std::next(change);
      if (next == changes.end()) break;
      std::sort(holders.begin(), holders.end());
      const bool distinct = std::adjacent_find(holders.begin(), holders.end()) == holders.end();
      const bool held = !tensor.frozen || category == Category::kParameters;
      const std::size_t wanted = !held ? 0 : replicated ? by_rank.size() : 1;
      if (distinct && holders.size() == wanted) continue;
      Finding finding;
      finding.check = check;
      finding.phase = phase;
      finding.tensor = tensor.name;
      finding.rank = holders.empty() ? -1 : holders.front();
      finding.element = change->first;
      finding.message =
          fmt::format("{} of {}; {}",
                      (holders.empty() ? "no rank holds " : list_ranks(holders) + " hold ") +
                          describe_elements(change->first, next->first),
                      tensor.name,
                      held ? "each element belongs to one rank, or is held by all"
                           : fmt::format("a frozen tensor has no {}", name_of(category)));
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

}  // namespace zerolab
