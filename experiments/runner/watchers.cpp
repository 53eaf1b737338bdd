#include "experiments/runner/watchers.h"
#include "experiments/config/asks_for.h"

#include <algorithm>

namespace zerolab {
namespace {

bool is_collective(const std::string& name) {
  for (int op = 0; op < kCollectiveOpCount; ++op) {
    if (name == name_of(static_cast<CollectiveOp>(op))) return true;
  }
  return false;
}

Finding finding(const OrderViolation& violation, int rank) {
  Finding finding;
  finding.check = "ORD";
  finding.phase = "order";
  finding.tensor = violation.second.buffer;
  finding.rank = rank;
  finding.element = violation.elements.begin;
  finding.message = violation.describe();
  return finding;
}

}  // namespace

Watchers::Watchers(const RunConfig& config, int rank) {
  if (asks_for(config, "ORD")) order_.emplace();
  if (config.jitter != 0) jitter_.emplace(config.jitter, rank);
  if (config.trace) timeline_.emplace();
}

std::vector<DeviceObserver*> Watchers::observers() {
  std::vector<DeviceObserver*> all;
  if (order_) all.push_back(&*order_);
  if (jitter_) all.push_back(&*jitter_);
  if (timeline_) all.push_back(&*timeline_);
  return all;
}

void Watchers::contribute(RankResult& result) const {
  if (order_) {
    for (const OrderViolation& violation : order_->violations()) {
      result.findings.push_back(finding(violation, result.rank));
    }
  }
  if (!timeline_) return;
  for (const TimelineRow* row : timeline_->rows()) {
    // All ranks make the same calls in the same order, so counting them joins them across ranks.
    std::int64_t collectives = 0;
    for (const TimelineSpan& span : row->spans) {
      const bool collective = !span.is_wait && is_collective(span.name);
      result.spans.push_back({row->stream_id, span.is_wait ? "wait" : span.name,
                              span.is_wait ? span.name : span.detail, span.begin_ns, span.end_ns,
                              collective ? collectives++ : -1});
    }
  }
}

}  // namespace zerolab
