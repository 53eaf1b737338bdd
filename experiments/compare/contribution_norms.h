/// \file
/// How large the gradients are that a step adds up: what the rounding bound of their sum needs.
#pragma once

#include <deque>
#include <vector>

#include "experiments/checks/check.h"

namespace zerolab {

/// For every tensor, Σ ‖g‖₂ over all gradients that were handed in for reduction, over all ranks.
/// Not a detector: it finds nothing, and is created for replays that end after one step.
class ContributionNorms final : public Check {
 public:
  /// `sums` (by tensor) is filled on the rank that reports; it must outlive this.
  ContributionNorms(const CheckContext& context, bool reports, std::vector<double>& sums);

  std::string_view name() const override { return "contribution norms"; }
  std::unique_ptr<Stage> probe(Stage& inner) override;
  std::vector<Finding> findings() override;

 private:
  class Probe;
  void measure(UnitId unit, View gradients);

  CheckContext context_;
  bool reports_;
  std::vector<double>& sums_;
  Buffer maximum_, squares_, result_;  // int32 (1), fp64 (3), fp32 (2)
  struct Measured {
    int tensor = 0;
    float norm_and_factor[2] = {0, 0};
  };
  std::deque<Measured> measured_;  // downloads need addresses that stay
};

}  // namespace zerolab
