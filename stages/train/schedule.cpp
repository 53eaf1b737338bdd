#include "stages/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace zerolab {

double Schedule::learning_rate(std::int64_t step) const {
  if (step < warmup_steps) {
    return peak * static_cast<double>(step) / static_cast<double>(warmup_steps);
  }
  if (total_steps <= warmup_steps) return peak;
  const double progress = std::min(1.0, static_cast<double>(step - warmup_steps) /
                                            static_cast<double>(total_steps - warmup_steps));
  const double cosine = 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
  return peak * (final_fraction + (1.0 - final_fraction) * cosine);
}

}  // namespace zerolab
