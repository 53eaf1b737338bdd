/// \file
/// A finished plan, and how it is written: a table for people, JSON, CSV.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "experiments/plan/deepspeed_input.h"
#include "experiments/plan/estimate_comparison.h"
#include "experiments/plan/fitting.h"
#include "experiments/plan/verify.h"
#include "experiments/report/json_fields.h"

namespace zerolab {

/// What fits, of one stage. Only where the device's memory is known.
struct Capacity {
  std::string stage;
  std::int64_t largest_model = 0;        ///< parameters, everything counted
  double largest_by_states = 0;          ///< parameters, model states alone
  std::int64_t largest_micro_batch = 0;  ///< sequences of the planned model
};

struct PlanReport {
  PlanRequest request;
  std::optional<DeepSpeedPlanInput> deepspeed;  ///< of --config
  std::vector<StagePlan> stages;
  std::vector<Capacity> capacities;
  std::optional<Advice> advice;
  std::optional<EstimateComparison> estimate;  ///< with a DeepSpeed JSON, where theirs covers it
  std::optional<Verification> verification;    ///< with --verify
  std::vector<std::string> notices;            ///< one sentence each
};

/// Everything that follows from the report's request and JSON. \throws BadInput
void fill_plan(PlanReport& report);

/// DeepSpeed's estimate for the report's JSON, if there is one, beside the plan, or a notice that
/// says why there is none.
void add_estimate(PlanReport& report);

/// For people. Decimal units, GB of 1e9 bytes; the largest total in GiB too.
std::string plan_text(const PlanReport& report);

/// {"schema": "zerolab.plan/1", …}: bytes as integers, times in seconds.
Json plan_json(const PlanReport& report);

/// One line a quantity: stage,group,quantity,unit,value.
std::string plan_csv(const PlanReport& report);

}  // namespace zerolab
