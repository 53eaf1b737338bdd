/// \file
/// The loss scale that keeps fp16 gradients from vanishing.
#pragma once

#include <cstdint>

namespace zerolab {

/// DeepSpeed's settings under "fp16", with its defaults.
struct LossScaleSettings {
  double fixed = 0;            ///< above 0: this scale throughout; 0: dynamic
  int initial_power = 16;      ///< a dynamic scale starts at 2^power
  std::int64_t window = 1000;  ///< steps without overflow after which the scale doubles
  int hysteresis = 2;          ///< overflows that are forgiven before the scale halves, plus one
  bool consecutive_hysteresis = false;  ///< every good step forgives all earlier overflows
  double minimum = 1;

  bool operator==(const LossScaleSettings&) const = default;
};

/// The scale as a function of the overflows so far: DeepSpeed's DynamicLossScaler, whose factor is
/// 2. Every rank runs its own; since all agree on the overflows, all have the same scale.
class LossScaler {
 public:
  /// Always 1.
  LossScaler() = default;
  explicit LossScaler(const LossScaleSettings& settings);

  double scale() const { return scale_; }
  /// A step has been tried with `scale()`. \throws Failure when the gradient overflowed at the
  /// smallest scale.
  void update(bool overflow);

 private:
  LossScaleSettings settings_{.fixed = 1};
  double scale_ = 1;
  int forgiven_left_ = 1;  // overflows until the scale halves
  std::int64_t iteration_ = 0;
  std::int64_t last_overflow_ = -1;
};

}  // namespace zerolab
