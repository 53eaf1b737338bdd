/// \file
/// The learning rate as a function of the step.
#pragma once

#include <cstdint>
#include <string_view>

namespace zerolab {

/// What the rate does after warm-up.
enum class Decay : std::uint8_t { kConstant, kLinear, kCosine };
inline constexpr int kDecayCount = 3;
std::string_view name_of(Decay decay);

enum class WarmupShape : std::uint8_t { kLinear, kLog };
inline constexpr int kWarmupShapeCount = 2;
std::string_view name_of(WarmupShape shape);

/// Which number the first step has for the schedule.
enum class StepCount : std::uint8_t {
  kFromOne,    ///< 1: warm-up reaches the peak at its last step, the decay its end at the last one
  kDeepSpeed,  ///< -1, as DeepSpeed's schedulers move on after the optimizer's step
};
inline constexpr int kStepCountCount = 2;
std::string_view name_of(StepCount count);

/// Warm-up to the peak, then a decay to a fraction of it.
///
/// With W warm-up steps and T steps in all, step n has, during warm-up, the part g of the way from
/// `warmup_from` to the peak, and afterwards p of the way to the end:
///
///   g = n / W (linear) or ln(1 + n) / ln(1 + W) (log),  p = (n - W) / (T - W),
///
/// the rate being end + (peak - end)·(1 - p) (linear) or ·(1 + cos πp) / 2 (cosine).
///
/// `kDeepSpeed` gives the rates of WarmupLR (constant), WarmupDecayLR (linear, its end is where
/// warm-up began) and WarmupCosineLR in deepspeed/runtime/lr_schedules.py: n = step - 2, W at least
/// 2, a logarithmic g of ln(1 + n) / ln W, and a cosine whose p is that of the following step. The
/// first step has the rate that warm-up rises from (WarmupCosineLR: 0).
struct Schedule {
  double peak = 1e-3;
  std::int64_t warmup_steps = 0;  ///< W
  std::int64_t total_steps = 0;   ///< T; up to W: the rate is constant after warm-up
  double final_fraction = 0.1;    ///< end / peak
  Decay decay = Decay::kCosine;
  WarmupShape warmup_shape = WarmupShape::kLinear;
  double warmup_from = 0;
  StepCount count = StepCount::kFromOne;

  /// Steps count from 1. Computed in fp64, so that every rank has the same value.
  double learning_rate(std::int64_t step) const;
};

}  // namespace zerolab
