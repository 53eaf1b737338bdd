/// \file
/// The learning rate as a function of the step.
#pragma once

#include <cstdint>

namespace zerolab {

/// Linear warm-up, then half a cosine down to `final_fraction` of the peak (or constant).
struct Schedule {
  double peak = 1e-3;
  std::int64_t warmup_steps = 0;  ///< the peak is reached at this step
  std::int64_t total_steps = 0;   ///< the cosine ends here; 0 keeps the rate constant after warm-up
  double final_fraction = 0.1;

  /// Steps count from 1. Computed in fp64, so that every rank has the same value.
  double learning_rate(std::int64_t step) const;
};

}  // namespace zerolab
