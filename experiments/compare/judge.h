/// \file
/// From what two runs brought home to a verdict.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/compare/bits.h"
#include "experiments/compare/comparison.h"

namespace zerolab {

/// What a judgement needs to know besides the runs.
struct Terms {
  int ranks = 1;
  std::int64_t steps = 1;
  bool fingerprints = true;          ///< REF was on
  bool bounds = true;                ///< INV was on, which holds every sum against its bound
  std::vector<std::string> tensors;  ///< names, by index in the layout
};

struct Judgement {
  Verdict verdict = Verdict::kEqual;
  std::string reason;                       ///< one sentence
  std::optional<BitDifference> difference;  ///< where the bits first differ
};

/// A reference is sound or it is not; it has nothing to be compared with.
Judgement judge_reference(const StageResult& reference, const Terms& terms);

/// `equal` when the bits of all steps are the same and no check found anything, else `diverged`.
/// Runs that prove nothing (missing steps, NaN, swapped ranks, blank fingerprints) are `diverged`.
Judgement judge_bits(const StageResult& reference, const StageResult& candidate,
                     const Terms& terms);

/// For reductions whose order is not ours: turns a difference in bits into `within_noise` where the
/// loss of step 1 has the same bits, no check found anything, and the curves of both runs lie
/// inside the spread of `clean` runs in permuted order (the reference among them).
Judgement judge_noise(const StageResult& reference, const StageResult& candidate,
                      const std::vector<std::vector<StepRecord>>& clean, const Terms& terms,
                      Judgement bits);

/// The worst of two.
Verdict worse(Verdict a, Verdict b);

/// Where the losses of two runs are furthest apart.
struct LossDistance {
  double largest = 0;     ///< NaN where one is NaN
  std::int64_t step = 0;  ///< 0: nowhere
};
LossDistance loss_distance(const std::vector<StepRecord>& a, const std::vector<StepRecord>& b);

/// "its loss differs from ddp's by at most 3e-07 (step 12)"
std::string largest_distance(const StageResult& reference, const StageResult& run);
std::string largest_distance(const std::string& whose, const LossDistance& distance);

}  // namespace zerolab
