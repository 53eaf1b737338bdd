#include "stages/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace zerolab {
namespace {

double half_cosine(double progress) { return 0.5 * (1.0 + std::cos(std::numbers::pi * progress)); }

/// The rate where `left` of the way from the peak to the end is still to go.
double decayed(const Schedule& s, double left) {
  return s.peak * (s.final_fraction + (1.0 - s.final_fraction) * left);
}

double warmed_up(const Schedule& s, double part) {
  return s.warmup_from + (s.peak - s.warmup_from) * part;
}

double counted_from_one(const Schedule& s, std::int64_t step) {
  const auto n = static_cast<double>(step);
  const auto warmup = static_cast<double>(s.warmup_steps);
  if (step < s.warmup_steps) {
    if (s.warmup_shape == WarmupShape::kLog) {
      return warmed_up(s, std::log1p(n) / std::log1p(warmup));
    }
    return (s.warmup_from * (warmup - n) + s.peak * n) / warmup;
  }
  if (s.total_steps <= s.warmup_steps || s.decay == Decay::kConstant) return s.peak;
  const double progress =
      std::min(1.0, (n - warmup) / (static_cast<double>(s.total_steps) - warmup));
  return decayed(s, s.decay == Decay::kLinear ? 1.0 - progress : half_cosine(progress));
}

double counted_by_deepspeed(const Schedule& s, std::int64_t step) {
  const std::int64_t iteration = step - 2;
  const std::int64_t warmup = std::max<std::int64_t>(2, s.warmup_steps);
  const auto n = static_cast<double>(iteration);
  const auto w = static_cast<double>(warmup);
  if (iteration < 0) return s.decay == Decay::kCosine ? 0.0 : s.warmup_from;
  if (iteration < warmup) {
    const bool log = s.warmup_shape == WarmupShape::kLog;
    return warmed_up(s, log ? 1.0 / std::log(w) * std::log(n + 1.0) : n / w);
  }
  if (s.decay == Decay::kConstant) return s.peak;
  const auto total = static_cast<double>(s.total_steps);
  const double length = std::max(1.0, total - w);
  if (s.decay == Decay::kLinear) return decayed(s, std::max(0.0, (total - n) / length));
  return decayed(s, half_cosine(std::min(1.0, (n - w + 1.0) / length)));
}

}  // namespace

double Schedule::learning_rate(std::int64_t step) const {
  return count == StepCount::kDeepSpeed ? counted_by_deepspeed(*this, step)
                                        : counted_from_one(*this, step);
}

std::string_view name_of(Decay decay) {
  switch (decay) {
    case Decay::kConstant:
      return "constant";
    case Decay::kLinear:
      return "linear";
    case Decay::kCosine:
      return "cosine";
  }
  return "unknown";
}

std::string_view name_of(WarmupShape shape) {
  return shape == WarmupShape::kLog ? "log" : "linear";
}

std::string_view name_of(StepCount count) {
  return count == StepCount::kDeepSpeed ? "deepspeed" : "from one";
}

}  // namespace zerolab
