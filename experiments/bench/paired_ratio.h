/// \file
/// Times of two pieces of work, measured in turn, so that both see the same machine.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace zerolab {

/// Samples of one figure: the median is the figure, smallest and largest tell how steady it was.
struct Spread {
  double median = 0, smallest = 0, largest = 0;
  std::int64_t samples = 0;
};

/// \throws std::logic_error without samples.
Spread spread_of(std::vector<double> samples);

/// Does a fixed amount of work and returns the seconds that it took.
using TimedWork = std::function<double()>;

/// Seconds of `work`, on the steady clock.
double seconds_of(const std::function<void()>& work);

/// Pair i is (a[i], b[i]) in seconds, measured one right after the other.
struct TimePairs {
  std::vector<double> a, b;

  /// a over b, pair by pair: above 1 when `a` takes longer.
  Spread time_ratio() const;
  /// b over a, pair by pair: above 1 when `a` is the faster one.
  Spread speed_ratio() const;
};

/// Runs a b a b …, `pairs` times each, after `warm_up` pairs that do not count. A machine whose
/// clock or neighbours change slowly disturbs both sides of a pair alike, so the ratio holds still
/// where the times do not.
TimePairs measure_pairs(int pairs, const TimedWork& a, const TimedWork& b, int warm_up = 1);

/// `amount` over each sample of seconds.
Spread rate(double amount, const std::vector<double>& seconds);

}  // namespace zerolab
