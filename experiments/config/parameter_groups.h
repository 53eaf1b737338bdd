/// \file
/// Tensors chosen by their names: --param-group gives them a learning rate and a weight decay of
/// their own, --freeze takes them out of training.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stages/kernels/kernels.h"
#include "stages/model/layout.h"

namespace zerolab {

/// "*.bias:lr=2,decay=0"
struct ParameterGroup {
  std::string pattern;         ///< a shell glob over tensor names
  float rate = 1;              ///< times the schedule's learning rate
  std::optional<float> decay;  ///< empty: as the tensor would have it without the group
};

/// "PATTERN:lr=X,decay=Y", either of the two, or both. \throws BadInput
ParameterGroup parse_parameter_group(const std::string& text);

/// The optimizer's table for these groups, from kFirstOwnGroup on: two entries each, for tensors
/// that decay by default and for those that do not.
std::vector<GroupRule> group_rules(const std::vector<std::string>& groups, float weight_decay);

/// The layout with every tensor in the first group whose pattern matches its name. \throws BadInput
/// for a pattern that matches none, naming the nearest tensor.
ParameterLayout grouped(ParameterLayout layout, const std::vector<std::string>& groups);

/// \throws BadInput for a group of frozen tensors only.
void require_groups_that_train(const ParameterLayout& layout,
                               const std::vector<std::string>& groups);

/// The tensors of `layout` that match one of the globs, for ModelSpec::frozen. \throws BadInput for
/// a pattern that matches none, and where nothing is left to train.
std::vector<int> frozen_tensors(const ParameterLayout& layout,
                                const std::vector<std::string>& patterns);

}  // namespace zerolab
