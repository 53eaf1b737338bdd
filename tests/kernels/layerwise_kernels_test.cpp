// Norms of tensors that are cut, steps along a direction, and the Newton–Schulz iteration.
#include <gtest/gtest.h>
#include <limits>

#include "tests/kernels/kernel_bench.h"

namespace zerolab::testing_kernels {
namespace {

constexpr std::int64_t kTensors = 3;
constexpr std::int64_t kLargest = 70;  // elements of any of them

/// The ratio ‖w‖ / ‖u‖ of three tensors, each rank holding its segments only.
std::vector<float> ratios(const std::vector<float>& w, const std::vector<float>& u,
                          const std::vector<std::vector<Segment>>& ranks) {
  KernelBench b;
  const auto parts = static_cast<int>(ranks.size());
  const Buffer bw = b.put(w), bu = b.put(u);
  const Buffer maxima = b.put(std::vector<std::int32_t>(ranks.size() * 2 * kTensors, 0)),
               largest = b.empty(2 * kTensors, DType::kInt32),
               sums = b.put(std::vector<double>(ranks.size() * 6 * kTensors, 0.0)),
               result = b.empty(kTensors);
  for (int r = 0; r < parts; ++r) {
    const auto& segments = ranks[static_cast<std::size_t>(r)];
    const View mine = maxima.slice(r * 2 * kTensors, 2 * kTensors);
    b.kernels().tensor_maxima(b.stream(), bw.view(), segments, mine.slice(0, kTensors));
    b.kernels().tensor_maxima(b.stream(), bu.view(), segments, mine.slice(kTensors, kTensors));
  }
  b.kernels().combine_maxima(b.stream(), maxima.view(), parts, largest.view());
  for (int r = 0; r < parts; ++r) {
    const auto& segments = ranks[static_cast<std::size_t>(r)];
    const View mine = sums.slice(r * 6 * kTensors, 6 * kTensors);
    b.kernels().tensor_sums(b.stream(), bw.view(), segments, largest.slice(0, kTensors), kLargest,
                            mine.slice(0, 3 * kTensors));
    b.kernels().tensor_sums(b.stream(), bu.view(), segments, largest.slice(kTensors, kTensors),
                            kLargest, mine.slice(3 * kTensors, 3 * kTensors));
  }
  b.kernels().trust_ratios(b.stream(), sums.view(), parts, result.view());
  return b.get(result);
}

TEST(TrustRatio, IsTheQuotientOfTheNormsWithTheSameBitsForEveryCut) {
  const auto w = numbers(120, 1, 3.0F), u = numbers(120, 2);
  const std::vector<Segment> whole = {{0, 0, 0, 40}, {1, 0, 40, 70}, {2, 0, 110, 10}};
  const auto expected = ratios(w, u, {whole});
  for (std::size_t t = 0; t < whole.size(); ++t) {
    double ww = 0, uu = 0;
    for (std::int64_t i = whole[t].flat_begin; i < whole[t].flat_begin + whole[t].count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      ww += static_cast<double>(w[at]) * static_cast<double>(w[at]);
      uu += static_cast<double>(u[at]) * static_cast<double>(u[at]);
    }
    EXPECT_FLOAT_EQ(expected[t], static_cast<float>(std::sqrt(ww / uu)));
  }
  EXPECT_EQ(ratios(w, u, {{{1, 30, 70, 40}, {2, 0, 110, 10}}, {}, {{0, 0, 0, 40}, {1, 0, 40, 30}}}),
            expected);
}

TEST(TrustRatio, IsOneWhereANormIsZero) {
  std::vector<float> w(120, 2.0F), u(120, 1.0F);
  std::fill_n(w.begin(), 40, 0.0F);       // a bias at its start
  std::fill_n(u.begin() + 40, 70, 0.0F);  // a gradient that is zero
  EXPECT_EQ(ratios(w, u, {{{0, 0, 0, 40}, {1, 0, 40, 70}, {2, 0, 110, 10}}}),
            (std::vector<float>{1, 1, 2}));
}

TEST(StepAlong, ScalesEachTensorAndDecaysApartFromTheDirection) {
  KernelBench b;
  const Buffer p = b.put(std::vector<float>(6, 1.0F)), u = b.put(std::vector<float>(6, 2.0F)),
               scales = b.put(std::vector<float>{0.5F, 3.0F}),
               factor = b.put(std::vector<float>{1});
  // Group 2 learns at twice the rate and decays by 0.5.
  const DirectionRule rule{0.125F, 0.25F, {{2.0F, 0.5F}}};
  b.kernels().step_along(b.stream(), p.view(), u.view(), scales.view(), factor.view(), rule,
                         {{0, 0, 0, 1, kPlainGroup}, {1, 0, 2, 1, kDecayedGroup}, {1, 1, 4, 2, 2}});
  const float plain = 1 - 0.125F * 0.5F * 2, decayed = 1 - 0.125F * 0.25F - 0.125F * 3 * 2,
              own = 1 - 0.25F * 0.5F - 0.25F * 3 * 2;
  EXPECT_EQ(b.get(p), (std::vector<float>{plain, 1, decayed, 1, own, own}));

  const Buffer overflow = b.put(std::vector<float>{std::numeric_limits<float>::quiet_NaN()});
  b.kernels().step_along(b.stream(), p.view(), u.view(), scales.view(), overflow.view(), rule,
                         {{0, 0, 0, 1, kPlainGroup}});
  EXPECT_EQ(b.get(p)[0], plain) << "a step that overflowed is not taken";
}

struct MatrixCase {
  std::int64_t m, n;
};

std::vector<float> orthogonal(std::vector<float> x, MatrixCase shape, int threads = 2) {
  KernelBench b(threads);
  const Buffer bx = b.put(x), scratch = b.empty(newton_schulz_scratch(shape.m, shape.n));
  b.kernels().newton_schulz(b.stream(), bx.view(), scratch.view(), shape.m, shape.n);
  return b.get(bx);
}

TEST(NewtonSchulz, BringsSingularValuesNearOne) {
  // The singular values of a diagonal matrix lie on its diagonal, and stay there.
  for (const MatrixCase shape : {MatrixCase{6, 6}, MatrixCase{6, 11}, MatrixCase{11, 6}}) {
    std::vector<float> x(static_cast<std::size_t>(shape.m * shape.n), 0.0F);
    const float singular[] = {5.0F, 3.0F, 1.0F, 0.5F, 0.2F, 0.1F};
    for (std::int64_t i = 0; i < 6; ++i) x[static_cast<std::size_t>(i * shape.n + i)] = singular[i];
    const auto o = orthogonal(x, shape);
    for (std::int64_t i = 0; i < shape.m * shape.n; ++i) {
      const float value = o[static_cast<std::size_t>(i)];
      if (i / shape.n == i % shape.n) {
        EXPECT_GT(value, 0.65F) << i;
        EXPECT_LT(value, 1.25F) << i;
      } else {
        EXPECT_EQ(value, 0.0F) << i;
      }
    }
  }
}

TEST(NewtonSchulz, DoesNotDependOnThreadsAndLeavesZeroAlone) {
  const MatrixCase shape{130, 200};
  const auto x = numbers(shape.m * shape.n, 7);
  EXPECT_EQ(orthogonal(x, shape, 1), orthogonal(x, shape, 3));
  const std::vector<float> zero(35, 0.0F);
  EXPECT_EQ(orthogonal(zero, {5, 7}), zero);
}

}  // namespace
}  // namespace zerolab::testing_kernels
