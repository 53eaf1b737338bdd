/// \file
/// In which order a model visits its units, from its architecture alone.
#pragma once

#include <vector>

#include "stages/model/model_factory.h"
#include "stages/stage.h"

namespace zerolab {

/// The visits of one micro-batch of training and of one held-out micro-batch.
struct ModelUses {
  std::vector<Use> training, evaluation;
};

/// With activation checkpoints every so many blocks: the forward pass of each segment comes again
/// before its backward pass.
ModelUses uses_of(const ModelSpec& model, std::int64_t checkpoint_every = 0);

/// The visits of a micro-batch that bypasses a unit.
std::vector<Use> without(const std::vector<Use>& uses, UnitId unit);

/// The unit of a GPT's block, 0 the first.
UnitId unit_of_block(const ModelSpec& model, std::int64_t block);

}  // namespace zerolab
