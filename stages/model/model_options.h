/// \file
/// How a model is run, besides what it is.
#pragma once

#include <cstdint>

namespace zerolab {

/// The same model and, but for dropout and skipped blocks, the same bits, whatever is chosen.
struct ModelOptions {
  double dropout = 0;      ///< probability at each of GPT-2's sites, in training
  std::uint64_t seed = 0;  ///< of the masks
  /// Activation checkpointing: keep the input of every segment of so many blocks and compute the
  /// rest again in backward (Chen et al. 2016). 0: keep all.
  int checkpoint_every = 0;
  /// Bypass one block in every so many micro-batches of a step, the next one each time, on all
  /// ranks alike (in the manner of stochastic depth, Huang et al. 2016). 0: never.
  int skip_block_every = 0;

  bool operator==(const ModelOptions&) const = default;
};

}  // namespace zerolab
