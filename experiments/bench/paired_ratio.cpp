#include "experiments/bench/paired_ratio.h"

#include <algorithm>
#include <chrono>

#include "experiments/report/stage_numbers.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

Spread ratio(const std::vector<double>& over, const std::vector<double>& under) {
  require(over.size() == under.size(), "[bench] {} samples were paired with {}", over.size(),
          under.size());
  std::vector<double> ratios;
  for (std::size_t i = 0; i < over.size(); ++i) ratios.push_back(over[i] / under[i]);
  return spread_of(std::move(ratios));
}

}  // namespace

Spread spread_of(std::vector<double> samples) {
  require(!samples.empty(), "[bench] a figure has no samples");
  const auto [smallest, largest] = std::ranges::minmax(samples);
  const auto count = static_cast<std::int64_t>(samples.size());
  return {median(std::move(samples)), smallest, largest, count};
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Spread TimePairs::time_ratio() const { return ratio(a, b); }
Spread TimePairs::speed_ratio() const { return ratio(b, a); }

TimePairs measure_pairs(int pairs, const TimedWork& a, const TimedWork& b, int warm_up) {
  TimePairs times;
  for (int i = -warm_up; i < pairs; ++i) {
    const double first = a();
    const double second = b();
    if (i < 0) continue;
    times.a.push_back(first);
    times.b.push_back(second);
  }
  return times;
}

Spread rate(double amount, const std::vector<double>& seconds) {
  std::vector<double> rates;
  for (const double s : seconds) rates.push_back(amount / s);
  return spread_of(std::move(rates));
}

}  // namespace zerolab
