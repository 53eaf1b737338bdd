/// \file
/// DeepSpeed's estimate beside the exact figure, and every item that makes the difference.
#pragma once

#include <string>
#include <vector>

#include "experiments/plan/deepspeed_estimate.h"
#include "experiments/plan/stage_plans.h"

namespace zerolab {

/// One item of memory, by both.
struct EstimateLine {
  std::string item;
  double estimated = 0;  ///< bytes
  double exact = 0;      ///< bytes
  std::string why;       ///< of the difference; empty: there is none
};

struct EstimateComparison {
  EstimatorInput input;
  Estimate estimate;
  double exact_bytes = 0;  ///< the plan's largest total, on a device
  /// Every item in which the two differ or agree. Of a device: the sums are `estimate.gpu_bytes`
  /// and `exact_bytes`; of a node's host: `estimate.cpu_bytes` and nothing, since here nothing is
  /// held outside the devices.
  std::vector<EstimateLine> device, host;
};

/// The estimator's figure beside the plan's, of a 16-bit recipe at stage 2 or 3. The estimator may
/// offload; the plan never does, and the items say so. \throws BadInput otherwise.
EstimateComparison compare_with_estimator(const PlanRequest& request, const StagePlan& plan,
                                          EstimatorInput input);

/// Two tables, for a device and for a node's host.
std::string estimate_text(const EstimateComparison& comparison);

}  // namespace zerolab
