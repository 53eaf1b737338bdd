/// \file
/// How much each micro-batch counts where they hold unequal numbers of valid tokens.
#pragma once

#include <cstdint>
#include <span>

namespace zerolab {

/// The loss is the mean over all valid tokens of the global batch. Each micro-batch hands over the
/// gradient of Σ loss / (B·T), whatever the number of its valid tokens, and one factor,
/// B·T / Σ valid, makes the mean of the sum; so no micro-batch needs to know of the others while it
/// computes. A mean of the micro-batches' (or ranks') means is something else: it lets a token
/// count the more, the fewer its neighbours are.
class LossWeighting {
 public:
  virtual ~LossWeighting() = default;

  /// Weight of this rank's micro-batches in the gradient. `valid`: the valid tokens of each, in
  /// this step; `terms`: B·T.
  virtual float of_micro_batch(std::span<const std::int64_t> /*valid*/,
                               std::int64_t /*terms*/) const {
    return 1;
  }
  /// What makes the mean of the sum over the `micro_batches` = N·K of a global batch with `valid`
  /// tokens. Rounded to fp32 by the clipper, once.
  virtual double gradient_scale(std::int64_t terms, std::int64_t valid,
                                std::int64_t /*micro_batches*/) const {
    return static_cast<double>(terms) / static_cast<double>(valid);
  }
};

}  // namespace zerolab
