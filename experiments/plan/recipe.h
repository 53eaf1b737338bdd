/// \file
/// How a planned model is trained: the options of a run, and what only plans know.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "experiments/config/run_config.h"
#include "experiments/plan/planned_model.h"

namespace zerolab {

/// Whose count of bytes a parameter a plan follows. They disagree about copies of the gradient.
enum class Accounting : std::uint8_t { kMeasured, kZero, kDeepSpeed, kMegatron, kInfinity };
inline constexpr int kAccountingCount = 5;
/// "measured", "zero", "deepspeed", "megatron", "infinity"
std::string_view name_of(Accounting accounting);

/// What backward computes again instead of having kept it (Korthikanti et al. 2022).
enum class Recompute : std::uint8_t { kNone, kSelective, kFull };
inline constexpr int kRecomputeCount = 3;
/// "none", "selective", "full"
std::string_view name_of(Recompute recompute);

/// Whose activations and scratch a plan counts.
enum class Activations : std::uint8_t {
  kHere,       ///< those of the model of this repository on the CPU, to the byte
  kPublished,  ///< those of a 16-bit GPT on a GPU (activations.h)
};
inline constexpr int kActivationsCount = 2;
/// "here", "published"
std::string_view name_of(Activations activations);

struct Recipe {
  RunConfig run;  ///< ranks, nodes, batch, precision, optimizer, buckets: as a run would be told
  Accounting accounting = Accounting::kMeasured;
  Activations activations = Activations::kHere;
  Recompute recompute = Recompute::kNone;  ///< of published activations only
};

/// T: as configured, or the model's longest.
std::int64_t planned_sequence(const Recipe& recipe, const PlannedModel& model);

/// Ranks of the largest world that can be planned.
inline constexpr std::int64_t kMostPlannedRanks = 65'536;

/// Whether all bytes of the plan fit into 64 bits.
bool is_countable(const Recipe& recipe, const PlannedModel& model);

/// \throws BadInput with one sentence about the first rule that is broken: sizes out of bounds,
/// ranks that nodes do not divide, an accounting that has no figure for the precision, and all
/// rules of runs but for the size of their world.
void validate(const Recipe& recipe, const PlannedModel& model);

}  // namespace zerolab
