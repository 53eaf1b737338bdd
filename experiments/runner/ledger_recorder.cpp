#include "experiments/runner/ledger_recorder.h"

namespace zerolab {

void LedgerRecorder::add(CommLedger::Table& sum, const CommLedger::Table& later,
                         const CommLedger::Table& earlier) {
  for (std::size_t t = 0; t < sum.size(); ++t) {
    for (std::size_t op = 0; op < sum[t].size(); ++op) {
      const Volume& b = later[t][op];
      const Volume& a = earlier[t][op];
      sum[t][op] += {b.calls - a.calls, b.sent_intra - a.sent_intra, b.sent_inter - a.sent_inter,
                     b.received_intra - a.received_intra, b.received_inter - a.received_inter};
    }
  }
}

void LedgerRecorder::contribute(RankResult& result) {
  CommLedger::Table all{};
  add(all, comm_.ledger().totals(), at_start_);
  add(result.training_volume, all, evaluation_);
  result.evaluation_volume = evaluation_;
  result.evaluations = evaluations_;
  result.records = comm_.ledger().take_records();

  const MemoryLedger& memory = device_.ledger();
  result.peak_by_category = memory.peak();
  result.at_peak = memory.at_peak();
  result.peak_bytes = memory.peak_total();
  result.peak_moment = memory.peak_moment();
  result.reserved_bytes = device_.reserved_bytes();
  result.held_before = held_before_;
  result.memory_events = memory.events();
  result.moments = memory.moments();
}

}  // namespace zerolab
