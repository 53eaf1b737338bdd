/// \file
/// MEM: bytes held equal the formula, and nothing is held that should have been freed.
#pragma once

#include <vector>

#include "experiments/checks/check.h"
#include "experiments/checks/finding_list.h"
#include "experiments/predict/prediction.h"
#include "experiments/runner/results.h"

namespace zerolab {

/// Each category's peak, the largest total and what it consisted of, against the formula; and the
/// last step's allocations against its frees. What checks hold is left out.
std::vector<Finding> check_memory(const RankResult& result, const Prediction& predicted,
                                  const RunConfig& config);

/// At the end of every step no unit may still be gathered, nor its full gradient be held (ZeRO-3
/// frees a unit after its use, ZeRO-2 a gradient when it has moved on).
class ReleaseCheck final : public Check {
 public:
  explicit ReleaseCheck(const CheckContext& context) : context_(context) {}

  std::string_view name() const override { return "MEM"; }
  void step_ended(const StepRecord& record, Stage& stage) override;
  std::vector<Finding> findings() override { return findings_.take(); }

 private:
  CheckContext context_;
  FindingList findings_;
};

}  // namespace zerolab
