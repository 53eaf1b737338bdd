/// \file
/// Whether every element of every tensor has exactly one owner, or a copy on every rank.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/checks/finding.h"
#include "stages/model/layout.h"
#include "stages/stage.h"

namespace zerolab {

/// A run of elements that a stage shows as owned by this rank.
struct OwnedRun {
  int tensor = 0;
  bool replicated = false;
  Range elements;
};

/// What `stage.visit_owned(category, …)` shows.
std::vector<OwnedRun> owned_runs(Stage& stage, Category category);

/// Elements without an owner, with several owners, or replicated on some ranks only; `by_rank`
/// holds every rank's runs of `category`. Frozen tensors have parameters only. One finding a run of
/// elements.
std::vector<Finding> check_ownership(const ParameterLayout& layout, Category category,
                                     const std::vector<std::vector<OwnedRun>>& by_rank,
                                     std::string_view check, std::string_view phase);

}  // namespace zerolab
