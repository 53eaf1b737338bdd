// AdamW and SGD against their rules in fp64, on segments with padding between them.
#include <gtest/gtest.h>

#include <limits>

#include "tests/kernels/kernel_bench.h"

namespace zerolab::testing_kernels {
namespace {

constexpr std::int64_t kCount = 101;
// Two tensors and a gap of 5 elements; only the first decays.
const std::vector<Segment> kSegments{{0, 0, 0, 37, true}, {1, 0, 42, 59, false}};

bool is_padding(std::int64_t i) { return i >= 37 && i < 42; }
bool decays(std::int64_t i) { return i < 37; }

std::vector<float> with_nan_padding(std::vector<float> values) {
  for (std::int64_t i = 37; i < 42; ++i) {
    values[static_cast<std::size_t>(i)] = std::numeric_limits<float>::quiet_NaN();
  }
  return values;
}

/// Compares the segments; the padding must still be NaN.
void expect_near(const std::vector<float>& actual, const std::vector<double>& expected,
                 double tolerance) {
  for (std::int64_t i = 0; i < kCount; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (is_padding(i)) {
      EXPECT_TRUE(std::isnan(actual[at])) << "padding " << i << " was touched";
    } else {
      EXPECT_NEAR(static_cast<double>(actual[at]), expected[at], tolerance) << "element " << i;
    }
  }
}

TEST(AdamW, FollowsTheRuleOverSeveralSteps) {
  const AdamWRule base{0.01F, 0.9F, 0.95F, 1e-8F, 0.1F, 1};
  const float factor = 0.125F;
  KernelBench bench;
  const auto p0 = numbers(kCount, 1);
  const Buffer p = bench.put(with_nan_padding(p0)),
               m = bench.put(with_nan_padding(std::vector<float>(kCount, 0.0F))),
               v = bench.put(with_nan_padding(std::vector<float>(kCount, 0.0F))),
               f = bench.put(std::vector<float>{factor});
  std::vector<double> ep = widened(p0), em(kCount, 0.0), ev(kCount, 0.0);

  for (std::int64_t step = 1; step <= 5; ++step) {
    const auto gradient = numbers(kCount, static_cast<std::uint32_t>(10 + step), 3.0F);
    const Buffer g = bench.put(with_nan_padding(gradient));
    AdamWRule rule = base;
    rule.step = step;
    bench.kernels().adamw(bench.stream(), p.view(), g.view(), m.view(), v.view(), f.view(), rule,
                          kSegments);
    const double beta1 = static_cast<double>(rule.beta1), beta2 = static_cast<double>(rule.beta2);
    const double lr = static_cast<double>(rule.learning_rate);
    for (std::size_t i = 0; i < kCount; ++i) {
      const double d = static_cast<double>(gradient[i]) * 0.125;
      em[i] = beta1 * em[i] + (1 - beta1) * d;
      ev[i] = beta2 * ev[i] + (1 - beta2) * d * d;
      const double first = em[i] / (1 - std::pow(beta1, static_cast<double>(step)));
      const double second = ev[i] / (1 - std::pow(beta2, static_cast<double>(step)));
      if (decays(static_cast<std::int64_t>(i))) {
        ep[i] *= 1 - lr * static_cast<double>(rule.weight_decay);
      }
      ep[i] -= lr * first / (std::sqrt(second) + 1e-8);
    }
  }

  expect_near(bench.get(p), ep, 1e-6);
  expect_near(bench.get(m), em, 1e-6);
  expect_near(bench.get(v), ev, 1e-6);
}

class SgdTest : public ::testing::TestWithParam<float> {};

TEST_P(SgdTest, FollowsTheRuleOverSeveralSteps) {
  const float momentum = GetParam();
  KernelBench bench;
  const auto p0 = numbers(kCount, 1);
  const Buffer p = bench.put(with_nan_padding(p0)), f = bench.put(std::vector<float>{0.5F});
  // Unset before the first step; not there at all without momentum.
  const Buffer buffer =
      momentum == 0.0F
          ? Buffer{}
          : bench.put(std::vector<float>(kCount, std::numeric_limits<float>::quiet_NaN()));
  std::vector<double> ep = widened(p0), eb(kCount, 0.0);

  for (std::int64_t step = 1; step <= 4; ++step) {
    const auto gradient = numbers(kCount, static_cast<std::uint32_t>(20 + step));
    const Buffer g = bench.put(with_nan_padding(gradient));
    bench.kernels().sgd(bench.stream(), p.view(), g.view(), buffer.view(), f.view(),
                        {0.1F, momentum, 0.2F, step}, kSegments);
    for (std::size_t i = 0; i < kCount; ++i) {
      double d = static_cast<double>(gradient[i]) * 0.5;
      if (decays(static_cast<std::int64_t>(i))) d += static_cast<double>(0.2F) * ep[i];
      eb[i] = step == 1 ? d : static_cast<double>(momentum) * eb[i] + d;
      ep[i] -= static_cast<double>(0.1F) * eb[i];
    }
  }

  expect_near(bench.get(p), ep, 1e-6);
  if (momentum != 0.0F) {
    expect_near(bench.get(buffer), eb, 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Momentum, SgdTest, ::testing::Values(0.0F, 0.9F), [](const auto& chosen) {
  return chosen.param == 0.0F ? "none" : "nine_tenths";
});

// Shards of another world size cut the slice elsewhere: vector body and tail must agree.
TEST(AdamW, ACutSliceGivesTheSameBitsAsTheWhole) {
  const AdamWRule rule{0.01F, 0.9F, 0.999F, 1e-8F, 0.1F, 3};
  const auto p0 = numbers(kCount, 1), g0 = numbers(kCount, 2), m0 = numbers(kCount, 3);
  auto v0 = numbers(kCount, 4);
  for (float& value : v0) value = std::abs(value);
  const auto run = [&](const std::vector<Segment>& segments) {
    KernelBench bench;
    const Buffer p = bench.put(p0), g = bench.put(g0), m = bench.put(m0), v = bench.put(v0),
                 f = bench.put(std::vector<float>{0.7F});
    bench.kernels().adamw(bench.stream(), p.view(), g.view(), m.view(), v.view(), f.view(), rule,
                          segments);
    return bench.get(p);
  };

  const auto whole = run({{0, 0, 0, kCount, true}});
  std::vector<Segment> singles;
  for (std::int64_t i = 0; i < kCount; ++i) singles.push_back({0, i, i, 1, true});

  EXPECT_EQ(run({{0, 0, 0, 3, true}, {0, 3, 3, 50, true}, {0, 53, 53, 48, true}}), whole);
  EXPECT_EQ(run(singles), whole);
  EXPECT_NE(p0, whole);
}

}  // namespace
}  // namespace zerolab::testing_kernels
