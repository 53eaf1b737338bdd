/// \file
/// REF: the fingerprints by which runs of different stages are compared.
#pragma once

#include <deque>
#include <vector>

#include "experiments/checks/check.h"
#include "experiments/runner/results.h"

namespace zerolab {

/// Hashes gradients, parameters and optimizer state of every step where they lie. A rank hashes
/// what it owns; of replicated state rank 0's copy counts. Nobody waits: the hashes of a step are
/// copied to the host in stream order and read at the end.
class FingerprintRecorder final : public Check {
 public:
  explicit FingerprintRecorder(const CheckContext& context);

  std::string_view name() const override { return "REF"; }
  void started(Stage& stage) override;
  void gradients_complete(std::int64_t step, Stage& stage) override;
  void step_ended(const StepRecord& record, Stage& stage) override;
  /// Frozen tensors whose parameters changed, the first step of each on this rank. What else there
  /// is to find, two runs show (`check_reference`).
  std::vector<Finding> findings() override;
  void contribute(RankResult& result) override { result.fingerprints = take(); }

  /// This rank's share of every step since the last call, step 0 first. Blocks the host.
  std::vector<StepFingerprints> take();

 private:
  /// Rows of `sums_`; states follow in the order of `states_`.
  enum Row : std::int64_t { kGradientRow, kParameterRow, kFirstStateRow };
  struct Step {
    std::int64_t step = 0;
    std::vector<std::uint64_t> sums;  // (rows, tensors), arrives with the compute stream
  };

  void hash(Stage& stage, Category category, std::int64_t row);
  void hash_states_and_keep(std::int64_t step, Stage& stage);
  std::vector<std::uint64_t> row(const Step& step, std::int64_t row) const;
  std::vector<std::uint64_t> optimizer_state(const Step& step) const;

  CheckContext context_;
  std::vector<Category> states_;
  std::int64_t tensors_;
  Buffer sums_;             // uint64 (rows, tensors)
  std::deque<Step> steps_;  // downloads need addresses that stay
};

}  // namespace zerolab
