#include "experiments/bench/paired_ratio.h"

#include <gtest/gtest.h>

#include <string>

namespace zerolab {
namespace {

TEST(PairedRatio, TakesTurnsAndDoesNotCountTheWarmUp) {
  std::string order;
  double next = 1;
  const TimePairs times = measure_pairs(
      3,
      [&] {
        order += "a";
        return next++;
      },
      [&] {
        order += "b";
        return next++;
      });

  EXPECT_EQ(order, "abababab");
  EXPECT_EQ(times.a, (std::vector<double>{3, 5, 7}));
  EXPECT_EQ(times.b, (std::vector<double>{4, 6, 8}));
}

TEST(PairedRatio, DividesWithinPairsAndNotBetweenThem) {
  // The machine becomes ten times slower in the second pair; the ratio does not notice.
  const TimePairs times{{1, 10, 1}, {2, 20, 2}};

  EXPECT_DOUBLE_EQ(times.time_ratio().median, 0.5);
  EXPECT_DOUBLE_EQ(times.time_ratio().largest, 0.5);
  EXPECT_DOUBLE_EQ(times.speed_ratio().median, 2);
}

TEST(PairedRatio, ShowsTheMedianAndHowFarTheSamplesReach) {
  const Spread spread = spread_of({5, 1, 3, 100, 4});

  EXPECT_DOUBLE_EQ(spread.median, 4);
  EXPECT_DOUBLE_EQ(spread.smallest, 1);
  EXPECT_DOUBLE_EQ(spread.largest, 100);
  EXPECT_EQ(spread.samples, 5);
}

TEST(PairedRatio, RefusesAFigureWithoutSamples) { EXPECT_THROW(spread_of({}), std::logic_error); }

TEST(PairedRatio, RefusesSamplesThatAreNotPairs) {
  EXPECT_THROW((TimePairs{{1, 2}, {1}}.time_ratio()), std::logic_error);
}

TEST(PairedRatio, CountsWorkASecond) { EXPECT_DOUBLE_EQ(rate(6, {2, 3, 1}).median, 3); }

}  // namespace
}  // namespace zerolab
