/// \file
/// One tensor's values at one moment of a run: the replay that turns unequal fingerprints into
/// elements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/checks/check.h"
#include "experiments/compare/comparison.h"

namespace zerolab {

/// What to capture: a fingerprint phase after `step` (0: before training).
struct CaptureMoment {
  std::int64_t step = 0;
  std::string phase;  ///< one of kFingerprintPhases
  int tensor = 0;     ///< index in the layout
};

/// The tensor's elements, as their owners hold them.
struct CapturedTensor {
  struct Part {
    int rank = 0;
    Category category{};  ///< optimizer state consists of several
    std::int64_t begin = 0;
    std::vector<float> values;
  };
  std::vector<Part> parts;
};

/// Watches a replay. At the moment, each rank downloads what it owns of the tensor (of replicated
/// state rank 0's copy counts), all ranks exchange it, and the rank that reports keeps it.
class TensorCapture final : public TrainObserver {
 public:
  /// `captured` is written on rank `reporting_rank` (World::local_rank) only, before the run ends.
  TensorCapture(const CheckContext& context, CaptureMoment moment, int reporting_rank,
                CapturedTensor& captured)
      : context_(context),
        moment_(std::move(moment)),
        reporting_rank_(reporting_rank),
        captured_(captured) {}

  void started(Stage& stage) override;
  void gradients_complete(std::int64_t step, Stage& stage) override;
  void step_ended(const StepRecord& record, Stage& stage) override;

 private:
  void capture(Stage& stage, const std::vector<Category>& categories);
  /// After a step (or before the first): parameters and optimizer state.
  void capture_states(std::int64_t step, Stage& stage);

  CheckContext context_;
  CaptureMoment moment_;
  int reporting_rank_;
  CapturedTensor& captured_;
};

/// The first element that differs between two captures of the same moment, in canonical order, and
/// how many do; the rank is the candidate's owner. nullopt when all bits are equal. Elements that
/// only one run holds differ.
std::optional<Divergence> locate_difference(const CapturedTensor& reference,
                                            const CapturedTensor& candidate,
                                            const CaptureMoment& moment,
                                            const ParameterLayout& layout);

}  // namespace zerolab
