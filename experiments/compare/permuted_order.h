/// \file
/// The same training with the terms of each sum in another order.
#pragma once

#include <utility>
#include <vector>

#include "stages/data/batch_source.h"

namespace zerolab {

/// Deals the micro-batches of each global batch to other ranks and turns. The set of gradients that
/// a step adds up stays the same, and so does their sum but for rounding; it is added in another
/// order, whatever the reduction and the stage.
class PermutedOrder final : public BatchSource {
 public:
  /// `order[g]`: which micro-batch takes the place of number g. `source` must outlive this.
  PermutedOrder(const BatchSource& source, std::vector<std::int64_t> order)
      : source_(source), order_(std::move(order)) {}

  BatchShape shape() const override { return source_.shape(); }
  void training(std::int64_t step, std::int64_t global_micro_batch,
                HostBatch& batch) const override {
    source_.training(step, order_.at(static_cast<std::size_t>(global_micro_batch)), batch);
  }
  std::int64_t valid_targets(std::int64_t step, std::int64_t global_micro_batch) const override {
    return source_.valid_targets(step, order_.at(static_cast<std::size_t>(global_micro_batch)));
  }
  std::int64_t held_out_count() const override { return source_.held_out_count(); }
  void held_out(std::int64_t index, HostBatch& batch) const override {
    source_.held_out(index, batch);
  }
  std::int64_t valid_held_out(std::int64_t index) const override {
    return source_.valid_held_out(index);
  }

 private:
  const BatchSource& source_;
  std::vector<std::int64_t> order_;
};

/// `count` orders of `size` terms, none of them the identity where there is another: the reverse,
/// then pseudo-random ones.
std::vector<std::vector<std::int64_t>> permuted_orders(std::int64_t size, int count,
                                                       std::uint64_t seed);

}  // namespace zerolab
