/// \file
/// How far clean runs are from each other that differ only in rounding.
#pragma once

#include <string>
#include <vector>

#include "stages/train/step_record.h"

namespace zerolab {

/// The spread of clean runs, step by step. A run under suspicion is inside when it is no further
/// from the reference than `kEnvelopeFactor` times the largest distance between two clean runs up
/// to that step; the first `kEnvelopeWindow` steps share one figure, because few runs say little
/// about a single step (docs/rounding-bound.md). Norms are recorded in fp32, so that two of them
/// may be one rounding each further apart than what they stand for. A skipped step has no norm,
/// says nothing about their spread and is not counted among the first.
class Envelope {
 public:
  /// `runs`: records of clean runs of equal length, the reference among them.
  explicit Envelope(const std::vector<std::vector<StepRecord>>& runs);

  /// Largest distance allowed at index `i`, of the loss and of the gradient norm `of` the
  /// reference.
  double loss(std::size_t i) const { return loss_.at(i); }
  double norm(std::size_t i, double of) const;

  /// Why the run is outside, in one sentence; empty when it is inside. NaN is outside, but for the
  /// norm of a step that was skipped; a step may be skipped, or not, where a clean run did so.
  std::string outside(const std::vector<StepRecord>& reference,
                      const std::vector<StepRecord>& run) const;

 private:
  std::vector<double> loss_, norm_;
  std::vector<bool> skipped_, kept_;  // by a clean run
};

inline constexpr double kEnvelopeFactor = 4;
inline constexpr std::size_t kEnvelopeWindow = 8;

}  // namespace zerolab
