#include "stages/comm/comm_ledger.h"

#include <utility>

#include "stages/comm/communicator.h"

namespace zerolab {

std::string_view name_of(Traffic traffic) {
  switch (traffic) {
    case Traffic::kTraining:
      return "training";
    case Traffic::kControl:
      return "control";
    case Traffic::kChecks:
      return "checks";
  }
  return "unknown";
}

std::string_view name_of(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::kAllReduce:
      return "all_reduce";
    case CollectiveOp::kReduceScatter:
      return "reduce_scatter";
    case CollectiveOp::kAllGather:
      return "all_gather";
    case CollectiveOp::kBroadcast:
      return "broadcast";
    case CollectiveOp::kAllToAll:
      return "all_to_all";
    case CollectiveOp::kSend:
      return "send";
    case CollectiveOp::kRecv:
      return "recv";
    case CollectiveOp::kBarrier:
      return "barrier";
  }
  return "unknown";
}

std::string_view name_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::kOrdered:
      return "ordered";
    case Reduction::kTree:
      return "tree";
    case Reduction::kRing:
      return "ring";
    case Reduction::kNative:
      return "native";
  }
  return "unknown";
}

Volume& Volume::operator+=(const Volume& other) {
  calls += other.calls;
  sent_intra += other.sent_intra;
  sent_inter += other.sent_inter;
  received_intra += other.received_intra;
  received_inter += other.received_inter;
  return *this;
}

void CommLedger::book(Traffic traffic, CollectiveOp op, const Volume& volume) {
  totals_[static_cast<std::size_t>(traffic)][static_cast<std::size_t>(op)] += volume;
}

void CommLedger::book(const CollectiveRecord& record, const Volume& volume) {
  book(record.traffic, record.op, volume);
  if (keeping_) records_.push_back(record);
}

Volume CommLedger::total(Traffic traffic) const {
  Volume sum;
  for (const Volume& volume : totals_[static_cast<std::size_t>(traffic)]) sum += volume;
  return sum;
}

std::vector<CollectiveRecord> CommLedger::take_records() { return std::exchange(records_, {}); }

}  // namespace zerolab
