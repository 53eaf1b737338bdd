/// \file
/// Optimizers that update one slice of the parameters at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stages/device/device.h"
#include "stages/kernels/kernels.h"
#include "stages/stage.h"

namespace zerolab {

struct OptimizerSettings {
  std::string name = "adamw";  ///< "adamw" or "sgd"
  float beta1 = 0.9F;
  float beta2 = 0.95F;
  float epsilon = 1e-8F;
  float momentum = 0.9F;      ///< sgd
  float weight_decay = 0.1F;  ///< on matrices only
};

/// Holds the states of the elements that a rank updates (all of them in DDP, 1/N of them in ZeRO),
/// the slices back to back. The result does not depend on how the slices are cut.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Updates every slice of the parameters from the gradient of the same elements · factor[0].
  virtual void update(const std::vector<OwnedSlice>& parameters,
                      const std::vector<OwnedSlice>& gradients, View factor,
                      const StepSettings& settings) = 0;
  /// The states of a category in one buffer, empty where the optimizer has none.
  virtual View state(Category category) const = 0;
};

/// Allocates zeroed fp32 states of `size` elements. With master weights (Category::kMasterWeights),
/// which the caller fills, these are updated and then rounded into the parameters. \throws BadInput
/// naming the known optimizers.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings, Device& device,
                                          Stream& compute, Kernels& kernels, std::int64_t size,
                                          bool master_weights = false);

/// fp32 buffers of states an optimizer keeps for each element: first and second moments (AdamW),
/// momentum (SGD; none when it is 0).
std::vector<Category> optimizer_states(const OptimizerSettings& settings);

}  // namespace zerolab
