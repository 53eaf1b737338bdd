/// \file
/// A plan against the run that it describes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/plan/stage_plans.h"

namespace zerolab {

/// Ranks of the largest run that a plan is verified by: they are threads of this process.
inline constexpr int kMostVerifiedRanks = 64;
/// How far the largest total may be off.
inline constexpr double kPeakTolerance = 0.02;

/// One quantity of one stage, of the rank where the two differ most.
struct VerifiedQuantity {
  std::string stage;
  std::string name;  ///< "parameters", "all_gather, bytes sent"
  std::int64_t predicted = 0, measured = 0;
  int rank = 0;
  bool peak = false;  ///< the largest total, which may be off by `kPeakTolerance`
  bool agrees() const;
};

struct Verification {
  std::vector<VerifiedQuantity> quantities;
  bool agrees() const;
};

/// \throws BadInput for what cannot be run here: a size without an architecture, published
/// accountings or activations, or too many ranks.
void require_verifiable(const PlanRequest& request);

/// Trains every stage of the request for two steps and holds every category of memory and every
/// collective of every rank against the plan. `progress` hears what runs.
/// \throws BadInput as `require_verifiable` does, and when the machine has too little memory.
Verification verify_plan(const PlanRequest& request,
                         const std::function<void(const std::string&)>& progress);

std::string verification_text(const Verification& verification);

}  // namespace zerolab
