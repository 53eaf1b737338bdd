// Philox and the normal draws made from it.
#include <gtest/gtest.h>

#include "tests/kernels/kernel_bench.h"

namespace zerolab::testing_kernels {
namespace {

// The known answers that the paper's authors publish with Random123.
TEST(Philox, GivesThePublishedAnswers) {
  using Four = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}),
            (Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, UniformNeverReachesItsEnds) {
  EXPECT_GT(uniform(0), 0.0F);
  EXPECT_LT(uniform(~0U), 1.0F);
}

std::vector<float> draw(std::int64_t count, float deviation, std::uint64_t seed,
                        std::uint64_t stream_id, std::int64_t first) {
  KernelBench bench(3);
  const Buffer x = bench.empty(count);
  bench.kernels().normal(bench.stream(), x.view(), deviation, seed, stream_id, first);
  return bench.get(x);
}

TEST(Normal, AnElementDoesNotDependOnWhoDrawsIt) {
  const std::vector<float> whole = draw(40'000, 0.5F, 9, 4, 0);
  for (const std::int64_t first : {1, 2, 3, 4, 16'383, 20'001}) {
    const std::vector<float> part = draw(1'003, 0.5F, 9, 4, first);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + first)) << first;
  }
}

TEST(Normal, HasTheMomentsOfTheNormalDistribution) {
  const std::vector<float> x = draw(1'000'000, 2.0F, 1, 2, 0);
  double moments[5] = {};
  std::int64_t beyond_two = 0;
  for (const float value : x) {
    const double z = static_cast<double>(value) / 2.0;
    ASSERT_TRUE(std::isfinite(z));
    for (int power = 1; power <= 4; ++power) moments[power] += std::pow(z, power) / 1e6;
    if (std::abs(z) > 2.0) ++beyond_two;
  }
  // Five standard errors of each estimate.
  EXPECT_NEAR(moments[1], 0.0, 5e-3);
  EXPECT_NEAR(moments[2], 1.0, 7.1e-3);
  EXPECT_NEAR(moments[3], 0.0, 0.0194);
  EXPECT_NEAR(moments[4], 3.0, 0.049);
  EXPECT_NEAR(static_cast<double>(beyond_two), 45'500, 1'050);
}

TEST(Normal, SeedAndStreamGiveOtherNumbers) {
  const std::vector<float> x = draw(1'000, 1.0F, 1, 1, 0);
  for (const auto& other : {draw(1'000, 1.0F, 2, 1, 0), draw(1'000, 1.0F, 1, 2, 0)}) {
    int equal = 0;
    for (std::size_t i = 0; i < x.size(); ++i) equal += x[i] == other[i] ? 1 : 0;
    EXPECT_LE(equal, 1);
  }
}

TEST(Normal, NeighboursAreNotCorrelated) {
  const std::vector<float> x = draw(1'000'000, 1.0F, 3, 3, 0);
  for (const std::size_t lag : {1U, 2U, 3U, 4U, 5U}) {
    double product = 0.0;
    for (std::size_t i = lag; i < x.size(); ++i) {
      product += static_cast<double>(x[i]) * static_cast<double>(x[i - lag]);
    }
    EXPECT_NEAR(product / 1e6, 0.0, 5e-3) << "lag " << lag;
  }
}

}  // namespace
}  // namespace zerolab::testing_kernels
