/// \file
/// What frozen tensors take out of a model's visits.
#pragma once

#include <vector>

#include "stages/model/layout.h"
#include "stages/stage.h"

namespace zerolab {

/// The visits of training without those that only frozen tensors would need: backward ends at the
/// last unit that has something to train (what lies below needs no gradient), and a unit that is
/// frozen as a whole completes none. The same visits where nothing is frozen.
std::vector<Use> trained_uses(std::vector<Use> uses, const ParameterLayout& layout);

}  // namespace zerolab
