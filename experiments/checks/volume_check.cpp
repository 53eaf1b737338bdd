#include "experiments/checks/volume_check.h"

#include <fmt/format.h>

#include <algorithm>

namespace zerolab {
namespace {

constexpr Traffic kPredicted[] = {Traffic::kTraining, Traffic::kControl};

Volume times(const Volume& volume, std::int64_t n) {
  return {volume.calls * n, volume.sent_intra * n, volume.sent_inter * n, volume.received_intra * n,
          volume.received_inter * n};
}

std::string describe(const Volume& volume) {
  return fmt::format("{} calls, {} + {} B sent, {} + {} B received", volume.calls,
                     volume.sent_intra, volume.sent_inter, volume.received_intra,
                     volume.received_inter);
}

std::string describe(const CollectiveRecord& record) {
  return fmt::format("{} of {} {} (\"{}\"{}{})", name_of(record.op), record.count,
                     name_of(record.dtype), record.what, record.detail.empty() ? "" : ", ",
                     record.detail);
}

bool same_call(const CollectiveRecord& a, const CollectiveRecord& b) {
  return a.op == b.op && a.dtype == b.dtype && a.count == b.count && a.group == b.group &&
         a.traffic == b.traffic && a.what == b.what && a.detail == b.detail;
}

/// Sends and receives are made by two ranks only, which compare them as they make them.
std::vector<CollectiveRecord> without_pairs(std::vector<CollectiveRecord> records) {
  std::erase_if(records, [](const CollectiveRecord& record) {
    return record.op == CollectiveOp::kSend || record.op == CollectiveOp::kRecv;
  });
  return records;
}

void compare(const CommLedger::Table& measured, const CommLedger::Table& each, std::int64_t n,
             const char* what, const RankResult& result, bool bytes_count,
             std::vector<Finding>& findings) {
  for (const Traffic traffic : kPredicted) {
    for (int op = 0; op < kCollectiveOpCount; ++op) {
      const auto t = static_cast<std::size_t>(traffic);
      const auto o = static_cast<std::size_t>(op);
      const Volume& found = measured[t][o];
      const Volume expected = times(each[t][o], n);
      if (bytes_count ? found == expected : found.calls == expected.calls) continue;
      Finding finding;
      finding.check = "COMM";
      finding.phase = "collective";
      finding.rank = result.rank;
      finding.expected = static_cast<double>(expected.sent());
      finding.value = static_cast<double>(found.sent());
      finding.message = fmt::format(
          "rank {}: {} of {} {} moved {} (intra- + inter-node), the formula says {}", result.rank,
          name_of(traffic), n, what,
          fmt::format("by {} {}", name_of(static_cast<CollectiveOp>(op)), describe(found)),
          describe(expected));
      findings.push_back(std::move(finding));
    }
  }
}

}  // namespace

std::vector<Finding> check_volume(const RankResult& result, const Prediction& predicted,
                                  const RunConfig& config) {
  std::vector<Finding> findings;
  const bool bytes_count = config.reduction != Reduction::kNative;
  compare(result.training_volume, predicted.per_step, config.trained_steps(), "steps", result,
          bytes_count, findings);
  compare(result.evaluation_volume, predicted.per_evaluation, result.evaluations, "evaluations",
          result, bytes_count, findings);
  return findings;
}

std::vector<Finding> check_collectives(const StageResult& result) {
  std::vector<Finding> findings;
  const std::vector<CollectiveRecord> first = without_pairs(result.ranks.front().records);
  for (const RankResult& rank : result.ranks) {
    const std::vector<CollectiveRecord> calls = without_pairs(rank.records);
    const std::size_t common = std::min(first.size(), calls.size());
    std::size_t i = 0;
    while (i < common && same_call(first[i], calls[i])) ++i;
    if (i == first.size() && i == calls.size()) continue;
    const auto call = [&](const std::vector<CollectiveRecord>& made) {
      return i < made.size() ? describe(made[i]) : std::string("no call");
    };
    Finding finding;
    finding.check = "COMM";
    finding.phase = "collective";
    finding.rank = rank.rank;
    if (!rank.steps.empty()) finding.step = rank.steps.back().step;
    finding.message = fmt::format(
        "step {}: collective {} of rank {} is {}, rank 0's is {}; all ranks must make "
        "the same calls in the same order",
        finding.step, i, rank.rank, call(calls), call(first));
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::optional<Finding> collective_finding(const Failure& failure) {
  if (failure.odd_rank() < 0) return std::nullopt;
  Finding finding;
  finding.check = "COMM";
  finding.phase = "collective";
  finding.rank = failure.odd_rank();
  finding.message = failure.what();
  return finding;
}

}  // namespace zerolab
