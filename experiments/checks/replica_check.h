/// \file
/// XR: what all ranks hold is the same on all ranks.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "experiments/checks/check.h"
#include "experiments/checks/finding_list.h"

namespace zerolab {

/// Compares across ranks, from before the first step on: the full parameters that the first forward
/// pass after each update acquires, replicated gradients and moments (DDP), norm, factor, loss,
/// learning rate and step counter. The last update's parameters are seen when an evaluation follows
/// it. Also tells when all ranks read the same data, which would hide a missing reduction.
class ReplicaCheck final : public Check {
 public:
  explicit ReplicaCheck(const CheckContext& context);

  std::string_view name() const override { return "XR"; }
  std::unique_ptr<Stage> probe(Stage& inner) override;
  void started(Stage& stage) override;
  void gradients_complete(std::int64_t step, Stage& stage) override;
  void step_ended(const StepRecord& record, Stage& stage) override;
  void ended(Stage& stage) override;
  std::vector<Finding> findings() override;

 private:
  class Probe;

  /// One thing that all ranks must agree on: 64 bits for each tensor or scalar.
  struct Row {
    std::int64_t step = 0;
    std::string_view phase;  // kFingerprintPhases, "acquired", "scalars"
    std::vector<std::uint64_t> bits;
  };

  /// A unit's full parameters are in use for the first time since the last update.
  void acquired(UnitId unit, const UnitView& parameters);
  /// The optimizer is about to make the parameters of `settings.step`.
  void updating(const StepSettings& settings);
  /// Hashes the slices of which every rank holds a copy; false where there are none.
  bool hash_replicas(Stage& stage, Category category);
  void keep_hashes(std::int64_t step, std::string_view phase, View sums);
  /// Compares all rows since the last call. Collective.
  void compare_with_other_ranks();
  void compare(const Row& mine, const std::vector<std::vector<std::uint64_t>>& by_rank);
  std::string name_of(const Row& row, std::size_t index) const;

  CheckContext context_;
  std::vector<Category> states_;
  Buffer acquired_;           // uint64 (tensors): this version's full parameters
  Buffer replicas_;           // uint64 (tensors)
  std::vector<bool> hashed_;  // by unit, since the last update
  std::int64_t version_ = 0;  // the step that made the present parameters
  StepSettings settings_;     // of the last update
  std::deque<Row> rows_;      // downloads need addresses that stay
  std::int64_t steps_since_comparison_ = 0;
  std::uint64_t positions_ = 0;  // hash of all positions read so far
  FindingList findings_;
};

}  // namespace zerolab
