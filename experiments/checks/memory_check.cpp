#include "experiments/checks/memory_check.h"

#include <fmt/format.h>

namespace zerolab {
namespace {

constexpr Category kHeldWhileUsed[] = {Category::kGatheredParameters, Category::kUnitGradients};

Finding finding(int rank, std::int64_t expected, std::int64_t value, std::string message) {
  Finding found;
  found.check = "MEM";
  found.phase = "memory";
  found.rank = rank;
  found.expected = static_cast<double>(expected);
  found.value = static_cast<double>(value);
  found.message = std::move(message);
  return found;
}

void compare(const CategoryBytes& measured, const CategoryBytes& predicted, const char* when,
             int rank, std::vector<Finding>& findings) {
  for (int c = 0; c < kCategoryCount; ++c) {
    const auto category = static_cast<Category>(c);
    const auto index = static_cast<std::size_t>(c);
    if (category == Category::kChecks || measured[index] == predicted[index]) continue;
    findings.push_back(
        finding(rank, predicted[index], measured[index],
                fmt::format("rank {} held {} B of {} {}, the formula says {} B", rank,
                            measured[index], name_of(category), when, predicted[index])));
  }
}

}  // namespace

std::vector<Finding> check_memory(const RankResult& result, const Prediction& predicted,
                                  const RunConfig&) {
  std::vector<Finding> findings;
  const int rank = result.rank;
  compare(result.peak_by_category, predicted.peak_by_category, "at most", rank, findings);
  compare(result.at_peak, predicted.at_peak, "at the moment of the largest total", rank, findings);
  if (result.peak_bytes != predicted.peak_bytes) {
    findings.push_back(
        finding(rank, predicted.peak_bytes, result.peak_bytes,
                fmt::format("rank {} held {} B at most ({}), the formula says {} B", rank,
                            result.peak_bytes, result.peak_moment, predicted.peak_bytes)));
  }
  CategoryBytes left{};
  for (const MemoryEvent& event : result.memory_events) {
    left[static_cast<std::size_t>(event.category)] += event.bytes;
  }
  CategoryBytes nothing{};
  compare(left, nothing, "more after the last step than before it", rank, findings);
  return findings;
}

void ReleaseCheck::step_ended(const StepRecord& record, Stage&) {
  const MemoryLedger& ledger = context_.device.ledger();
  for (const Category category : kHeldWhileUsed) {
    const std::int64_t bytes = ledger.held(category);
    if (bytes == 0) continue;
    Finding found =
        finding(context_.ranks.rank(), 0, bytes,
                fmt::format("rank {} still holds {} B of {} after step {}, where all "
                            "should have been freed",
                            context_.ranks.rank(), bytes, name_of(category), record.step));
    found.step = record.step;
    findings_.add(std::move(found));
  }
}

}  // namespace zerolab
