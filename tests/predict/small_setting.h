/// \file
/// The setting of the examples that are worked out by hand.
#pragma once

#include "experiments/predict/setting.h"
#include "tests/stages/small_layout.h"

namespace zerolab::test {

/// Visits like GPT's on the layout of small_layout.h: the base is tied, its gradient complete last.
/// Forward base, middle, head, base; backward base, head, middle, base (which reads no parameters).
inline ModelUses tied_uses() {
  constexpr UnitId kHead = 0, kMiddle = 1, kBase = 2;
  ModelUses uses;
  for (const UnitId unit : {kBase, kMiddle, kHead, kBase})
    uses.evaluation.push_back({.unit = unit});
  uses.training = uses.evaluation;
  uses.training.push_back({kBase, Phase::kBackward, true, false});
  uses.training.push_back({kHead, Phase::kBackward, true, true});
  uses.training.push_back({kMiddle, Phase::kBackward, true, true});
  uses.training.push_back({kBase, Phase::kBackward, false, true});
  return uses;
}

/// Units of 64, 64 and 96 elements, AdamW, one micro-batch, buckets of 100 elements, threads.
inline Setting small_setting(int ranks, int rank) {
  Setting setting;
  setting.layout = small_layout();
  setting.uses = tied_uses();
  setting.group = world_shape(ranks, 0, WireKind::kPeerView, Reduction::kOrdered);
  setting.rank = rank;
  setting.bucket_elements = 100;
  return setting;
}

/// With K micro-batches, each reduced, and one running sum.
inline Setting accumulating(Setting setting, int micro_batches) {
  setting.micro_batches = setting.reductions = micro_batches;
  setting.accumulators = 1;
  return setting;
}

inline std::int64_t held(const CategoryBytes& bytes, Category category) {
  return bytes[static_cast<std::size_t>(category)];
}

inline Volume volume(const CommLedger::Table& table, Traffic traffic, CollectiveOp op) {
  return table[static_cast<std::size_t>(traffic)][static_cast<std::size_t>(op)];
}

inline Volume trained(const CommLedger::Table& table, CollectiveOp op) {
  return volume(table, Traffic::kTraining, op);
}

}  // namespace zerolab::test

namespace zerolab {

inline void PrintTo(const Volume& v, std::ostream* out) {
  *out << fmt::format("{} calls, sent {} inside and {} across nodes, received {} and {}", v.calls,
                      v.sent_intra, v.sent_inter, v.received_intra, v.received_inter);
}

}  // namespace zerolab
