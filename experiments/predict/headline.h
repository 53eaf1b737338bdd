/// \file
/// A prediction in the units that people quote: bytes a parameter, volume in multiples of Ψ.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "experiments/predict/prediction.h"
#include "experiments/predict/setting.h"

namespace zerolab {

/// Ψ is the number of parameters, without padding.
struct Headline {
  /// Each category's peak, over Ψ; indexed by the enumerator.
  std::array<double, kCategoryCount> bytes_per_parameter{};
  /// Parameters, gradients, accumulators, master weights and moments together: what ZeRO shards.
  double states_bytes_per_parameter = 0;
  /// Elements that this rank sends for training in one step, over Ψ. 2(N−1)/N for DDP.
  double volume_in_psi = 0;
  /// The same without the ring's factor (N−1)/N: 2 for DDP, 3 for ZeRO-3. 0 on one rank.
  double passes_over_psi = 0;
};

/// Of one rank's bytes, padding included. `types` tells how large the elements are that travel.
Headline headline(const Prediction& prediction, std::int64_t parameters, int ranks,
                  const StateTypes& types = {});

/// The limit of large models, where padding vanishes (ZeRO paper, figure 1 and section 7, with
/// gradient accumulation): p and g bytes a parameter and a gradient (4; 2 in mixed precision), k =
/// 4 a moment and 4 for master weights, a an accumulator;
///   DDP  p + g + k + a          2 R (N−1)/N Ψ
///   1    p + g + (k + a)/N      (R + 1) (N−1)/N Ψ
///   2    p + (g + k + a)/N      (K + 1) (N−1)/N Ψ
///   3    (p + g + k + a)/N      3 K (N−1)/N Ψ
/// with R = K reductions a step, or 1 in local order. Only the states have bytes here.
/// \throws BadInput as `predict` does.
Headline paper_headline(const std::string& stage, const RunConfig& config);

}  // namespace zerolab
