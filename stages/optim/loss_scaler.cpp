#include "stages/optim/loss_scaler.h"

#include <algorithm>
#include <cmath>

#include "stages/core/error.h"

namespace zerolab {
namespace {
constexpr double kFactor = 2;
}

LossScaler::LossScaler(const LossScaleSettings& settings)
    : settings_(settings),
      scale_(settings.fixed > 0 ? settings.fixed : std::ldexp(1.0, settings.initial_power)),
      forgiven_left_(settings.hysteresis) {}

void LossScaler::update(bool overflow) {
  if (settings_.fixed > 0) return;
  if (overflow) {
    if (forgiven_left_ <= 1) {
      if (scale_ == settings_.minimum) {
        fail(
            "[loss scale] the gradient overflowed at the smallest loss scale, {}: training "
            "diverges; lower --lr, or use --precision bf16",
            scale_);
      }
      scale_ = std::max(scale_ / kFactor, settings_.minimum);
    } else {
      --forgiven_left_;  // not refilled by halving
    }
    last_overflow_ = iteration_;
  } else {
    if (settings_.consecutive_hysteresis) forgiven_left_ = settings_.hysteresis;
    const std::int64_t good = iteration_ - last_overflow_ - 1;
    if (good > 0 && good % settings_.window == 0) {
      if (!settings_.consecutive_hysteresis) forgiven_left_ = settings_.hysteresis;
      scale_ *= kFactor;
    }
  }
  ++iteration_;
}

}  // namespace zerolab
