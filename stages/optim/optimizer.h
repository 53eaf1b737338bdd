/// \file
/// Optimizers. Each updates the slices that a rank owns; some look beyond them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stages/comm/communicator.h"
#include "stages/device/device.h"
#include "stages/kernels/kernels.h"
#include "stages/model/partition.h"
#include "stages/stage.h"

namespace zerolab {

/// Over which elements LAMB takes the norms of its trust ratio.
enum class LambNorms : std::uint8_t {
  kTensor,  ///< the whole tensor, wherever its elements lie
  kShard,   ///< this rank's elements of it only: cheaper, and another optimizer for every cut
};
std::string_view name_of(LambNorms norms);

struct OptimizerSettings {
  std::string name = "adamw";  ///< "adamw", "sgd", "lamb" or "muon"
  float beta1 = 0.9F;          ///< adamw, lamb, and what muon leaves to AdamW; so are the next two
  float beta2 = 0.95F;
  float epsilon = 1e-8F;
  float momentum = 0.9F;        ///< sgd
  float weight_decay = 0.1F;    ///< on matrices only
  float muon_momentum = 0.95F;  ///< of hidden matrices
  float adamw_rate = 1;         ///< muon: AdamW's learning rate, as a multiple of the schedule's
  LambNorms lamb_norms = LambNorms::kTensor;
  std::vector<GroupRule> groups;  ///< from kFirstOwnGroup on
};

/// "adamw", "sgd", "lamb", "muon".
const std::vector<std::string>& optimizer_names();

/// What an optimizer is built from.
struct OptimizerParts {
  Device& device;
  Stream& compute;
  Communicator& comm;
  Kernels& kernels;
  const Partition& partition;  ///< whom else a tensor belongs to; not kept
  /// Elements that the rank updates: all of the flat space (every rank the same), or its slices.
  std::int64_t size = 0;
  /// Keep fp32 weights (Category::kMasterWeights), update these and round them into the parameters.
  bool master_weights = false;

  bool replicated() const { return size == partition.flat_size(); }
  /// fp32 memory that is no state.
  Buffer workspace(DType dtype, std::int64_t count, std::string name) const {
    return device.allocate(dtype, count, Category::kWorkspace, std::move(name), compute);
  }
};

/// Holds the states of the elements that a rank updates (all of them in DDP, 1/N of them in ZeRO),
/// the slices back to back. The result does not depend on how the slices are cut.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Updates every slice of the parameters from the gradient of the same elements · factor[0]. All
  /// ranks call it; it may communicate.
  virtual void update(const std::vector<OwnedSlice>& parameters,
                      const std::vector<OwnedSlice>& gradients, View factor,
                      const StepSettings& settings) = 0;
  /// The states of a category in one buffer, empty where the optimizer has none.
  virtual View state(Category category) const = 0;
};

/// Allocates zeroed fp32 states of `parts.size` elements; the caller fills the master weights.
/// \throws BadInput naming the known optimizers.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings,
                                          const OptimizerParts& parts);

/// fp32 buffers of states an optimizer keeps for each element: first and second moments (AdamW,
/// LAMB, Muon), momentum (SGD; none when it is 0).
std::vector<Category> optimizer_states(const OptimizerSettings& settings);

}  // namespace zerolab
