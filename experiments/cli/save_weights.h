/// \file
/// `train --save-weights`: the trained parameters as a safetensors file.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "experiments/checks/check.h"
#include "stages/checkpoint/weights.h"

namespace zerolab {

/// After the last step each rank hands the slices that it owns to rank 0, which writes them where
/// they belong; nobody holds the whole model. All ranks create one.
class SaveWeights final : public TrainObserver {
 public:
  /// \throws Failure when the file cannot be created.
  SaveWeights(const CheckContext& context, const std::string& path);

  /// \throws Failure (disk full, …); nothing is left under the name then.
  void ended(Stage& stage) override;

 private:
  /// What the slice holds of tensors that are `wanted`. All ranks call it for the same slices.
  void hand_over(const OwnedSlice& slice, const std::function<bool(const TensorSpec&)>& wanted);
  void write(const std::string& packed);

  CheckContext context_;
  std::unique_ptr<WeightsWriter> writer_;  // on rank 0
};

}  // namespace zerolab
