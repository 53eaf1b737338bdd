/// \file
/// INV: the reduced gradient is the sum of what the ranks handed over.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "experiments/checks/check.h"
#include "experiments/checks/element_sample.h"
#include "experiments/checks/expected_sum.h"
#include "experiments/checks/finding_list.h"
#include "experiments/checks/ownership.h"

namespace zerolab {

/// Keeps a copy of what is handed to `gradients_ready` in every reduced micro-batch (so in `local`
/// order of the local sum), and of the reduced gradient that the optimizer is about to use; adds
/// the copies of all ranks up in the configured order and types and demands the same bits. Where
/// the order is not known (ring and native with three ranks or more) it demands the bound that any
/// order keeps.
///
/// All elements in the first three steps, then a seeded 1 %. Copies are taken in stream order and
/// compared later, so that nothing waits. In a model so large that the copies of a step would not
/// fit in 1 GiB, the first steps look at as large a part as does.
class ReductionCheck final : public Check {
 public:
  explicit ReductionCheck(const CheckContext& context);

  std::string_view name() const override { return "INV"; }
  std::unique_ptr<Stage> probe(Stage& inner) override;
  void step_begins(std::int64_t step, Stage& stage) override;
  void gradients_complete(std::int64_t step, Stage& stage) override;
  void step_ended(const StepRecord& record, Stage& stage) override;
  std::vector<Finding> findings() override;

 private:
  class Probe;

  /// Elements of the reduced gradient on this rank.
  struct Owned {
    SampledRun run;
    std::vector<float> values;
  };
  struct Step {
    std::int64_t step = 0;
    ElementSample sample;
    std::deque<std::vector<float>> handed;  // by reduction: (sample.count())
    std::deque<Owned> owned;
  };
  /// What differs in one tensor on this rank.
  struct Difference {
    std::int64_t looked_at = 0, differing = 0;
    std::int64_t element = -1;  // the first
    float value = 0;
    double expected = 0;
  };

  ElementSample choose(std::int64_t step) const;
  void micro_batch_begins(const MicroBatch& micro_batch);
  void handed_over(UnitId unit, View gradients);
  /// Adds up the steps kept so far. Collective.
  void compare_with_other_ranks();
  void compare(const Step& step);
  void compare(const SumTerms& terms, std::span<const float> values, std::int64_t first_element,
               Difference& difference) const;
  void report(const Step& step, int tensor, const Difference& difference);

  CheckContext context_;
  bool order_known_;
  SumTypes types_;
  bool may_overflow_ = false;  // 16-bit gradients may be infinite; such a step is skipped
  bool recording_ = false;     // between `begin` of a reduced micro-batch and its end
  std::vector<OwnedRun> ownership_;
  bool ownership_checked_ = false;
  std::deque<Step> steps_;
  std::int64_t kept_elements_ = 0;  // in all `handed` of `steps_`: the same on all ranks
  FindingList findings_;
};

}  // namespace zerolab
