#include "stages/data/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace zerolab {
namespace {

std::vector<std::int64_t> order(std::int64_t size, std::uint64_t seed, std::uint32_t pass) {
  const Permutation permutation(size, seed, pass);
  std::vector<std::int64_t> result;
  for (std::int64_t i = 0; i < size; ++i) result.push_back(permutation(i));
  return result;
}

TEST(Permutation, VisitsEveryElementOnceForAnySize) {
  for (const std::int64_t size : {1, 2, 3, 4, 5, 16, 17, 100, 703, 1024, 4097}) {
    std::vector<std::int64_t> visited = order(size, 3, 0);
    std::sort(visited.begin(), visited.end());
    std::vector<std::int64_t> all(static_cast<std::size_t>(size));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(visited, all) << "size " << size;
  }
}

TEST(Permutation, DiffersBetweenPassesAndSeeds) {
  EXPECT_EQ(order(100, 3, 0), order(100, 3, 0));
  EXPECT_NE(order(100, 3, 0), order(100, 3, 1));
  EXPECT_NE(order(100, 3, 0), order(100, 4, 0));
  EXPECT_NE(order(100, 3, 0), order(100, 3 + (std::uint64_t{1} << 32U), 0));
}

TEST(Permutation, LeavesHardlyAnElementInItsPlace) {
  const std::vector<std::int64_t> shuffled = order(1000, 3, 0);
  int fixed = 0, ascending = 0;
  for (std::size_t i = 0; i < shuffled.size(); ++i) {
    fixed += shuffled[i] == static_cast<std::int64_t>(i) ? 1 : 0;
    ascending += i > 0 && shuffled[i] > shuffled[i - 1] ? 1 : 0;
  }
  EXPECT_LT(fixed, 10);  // 1 expected
  EXPECT_NEAR(ascending, 500, 60);
}

TEST(Permutation, WorksFarBeyondThirtyTwoBits) {
  const std::int64_t size = (std::int64_t{1} << 45) + 12345;
  const Permutation permutation(size, 3, 0);
  for (const std::int64_t i : {std::int64_t{0}, size / 2, size - 1}) {
    EXPECT_GE(permutation(i), 0);
    EXPECT_LT(permutation(i), size);
    EXPECT_NE(permutation(i), permutation(i / 3 + 1));
  }
}

}  // namespace
}  // namespace zerolab
