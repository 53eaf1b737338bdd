/// \file
/// A plan on more and fewer ranks.
#pragma once

#include <vector>

#include "experiments/plan/stage_plans.h"
#include "experiments/report/json_fields.h"

namespace zerolab {

/// One stage on so many ranks.
struct SweepPoint {
  int ranks = 1;
  std::string stage;
  std::int64_t peak_bytes = 0, states_bytes = 0;
  std::int64_t largest_model = 0;  ///< parameters; 0: the memory is not known, or none fits
};

/// The request's stages on 1, 2, 4 … 16,384 ranks.
std::vector<SweepPoint> sweep_ranks(const PlanRequest& request);

Json sweep_json(const std::vector<SweepPoint>& points);

}  // namespace zerolab
