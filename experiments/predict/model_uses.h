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

ModelUses uses_of(const ModelSpec& model);

}  // namespace zerolab
