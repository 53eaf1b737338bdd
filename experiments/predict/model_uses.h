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

/// The visits that are left where tensors are frozen: backward goes down to the lowest unit that
/// trains, and a unit that does not train completes no gradient.
std::vector<Use> trained_part(std::vector<Use> uses, const ParameterLayout& layout);

/// The unit of a GPT's block, 0 the first.
UnitId unit_of_block(const ModelSpec& model, std::int64_t block);

}  // namespace zerolab
