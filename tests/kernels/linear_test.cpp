// Linear layers and the tied head against fp64 products and finite differences.
#include <gtest/gtest.h>

#include "tests/kernels/kernel_bench.h"
#include "tests/kernels/reference.h"

namespace zerolab::testing_kernels {
namespace {

constexpr double kTolerance = 3e-6;

/// Odd, thin, and larger than one tile in every direction.
class LinearTest : public ::testing::TestWithParam<MatrixShape> {
 protected:
  LinearTest() {
    const MatrixShape s = GetParam();
    x_ = numbers(s.m * s.k, 1);
    w_ = numbers(s.k * s.n, 2);
    b_ = numbers(s.n, 3);
    dy_ = numbers(s.m * s.n, 4);
  }
  /// Products of K (or N, or M) terms have errors of about √K; K of them at worst.
  double tolerance() const {
    const MatrixShape s = GetParam();
    return kTolerance * std::sqrt(static_cast<double>(std::max({s.m, s.k, s.n})));
  }

  KernelBench bench_;
  std::vector<float> x_, w_, b_, dy_;
};

TEST_P(LinearTest, AddsTheBiasToTheProduct) {
  const MatrixShape s = GetParam();
  const Buffer x = bench_.put(x_), w = bench_.put(w_), b = bench_.put(b_);
  const Buffer y = bench_.empty(s.m * s.n);

  bench_.kernels().linear(bench_.stream(), x.view(), w.view(), b.view(), y.view(), s);

  const auto expected = reference::linear(widened(x_), widened(w_), widened(b_), s);
  EXPECT_LT(worst_error(bench_.get(y), expected), tolerance());
}

TEST_P(LinearTest, TreatsAnEmptyBiasAsZero) {
  const MatrixShape s = GetParam();
  const Buffer x = bench_.put(x_), w = bench_.put(w_), y = bench_.empty(s.m * s.n);

  bench_.kernels().linear(bench_.stream(), x.view(), w.view(), {}, y.view(), s);

  const auto expected = reference::linear(widened(x_), widened(w_), {}, s);
  EXPECT_LT(worst_error(bench_.get(y), expected), tolerance());
}

TEST_P(LinearTest, AddsTheResidual) {
  const MatrixShape s = GetParam();
  const Buffer x = bench_.put(x_), w = bench_.put(w_), b = bench_.put(b_), r = bench_.put(dy_);
  const Buffer y = bench_.empty(s.m * s.n);

  bench_.kernels().linear_residual(bench_.stream(), x.view(), w.view(), b.view(), r.view(),
                                   y.view(), s);

  const auto product = reference::linear(widened(x_), widened(w_), widened(b_), s);
  EXPECT_LT(worst_error(bench_.get(y), reference::plus(product, widened(dy_))), tolerance());
}

TEST_P(LinearTest, AppliesGeluAndKeepsWhatWasBefore) {
  const MatrixShape s = GetParam();
  const Buffer x = bench_.put(x_), w = bench_.put(w_), b = bench_.put(b_);
  const Buffer pre = bench_.empty(s.m * s.n), y = bench_.empty(s.m * s.n);

  bench_.kernels().linear_gelu(bench_.stream(), x.view(), w.view(), b.view(), pre.view(), y.view(),
                               s);

  const auto product = reference::linear(widened(x_), widened(w_), widened(b_), s);
  EXPECT_LT(worst_error(bench_.get(pre), product), tolerance());
  EXPECT_LT(worst_error(bench_.get(y), reference::gelu(product)), tolerance());
}

TEST_P(LinearTest, BackwardInputMultipliesByTheTransposedWeight) {
  const MatrixShape s = GetParam();
  const Buffer dy = bench_.put(dy_), w = bench_.put(w_), dx = bench_.empty(s.m * s.k);

  bench_.kernels().linear_backward_input(bench_.stream(), dy.view(), w.view(), dx.view(), s);

  const auto wt = reference::transpose(widened(w_), s.k, s.n);
  const auto expected = reference::linear(widened(dy_), wt, {}, {s.m, s.n, s.k});
  EXPECT_LT(worst_error(bench_.get(dx), expected), tolerance());
}

TEST_P(LinearTest, BackwardInputGoesThroughTheGelu) {
  const MatrixShape s = GetParam();
  const std::vector<float> before = numbers(s.m * s.k, 5, 3.0F);
  const Buffer dy = bench_.put(dy_), w = bench_.put(w_), pre = bench_.put(before);
  const Buffer dpre = bench_.empty(s.m * s.k);

  bench_.kernels().linear_backward_input_gelu(bench_.stream(), dy.view(), w.view(), pre.view(),
                                              dpre.view(), s);

  const auto wt = reference::transpose(widened(w_), s.k, s.n);
  auto expected = reference::linear(widened(dy_), wt, {}, {s.m, s.n, s.k});
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double v = static_cast<double>(before[i]);
    expected[i] *= (reference::gelu(v + 1e-6) - reference::gelu(v - 1e-6)) / 2e-6;
  }
  EXPECT_LT(worst_error(bench_.get(dpre), expected), tolerance());
}

TEST_P(LinearTest, BackwardWeightAddsToTheGradients) {
  const MatrixShape s = GetParam();
  const auto dw_before = numbers(s.k * s.n, 6), db_before = numbers(s.n, 7);
  const Buffer x = bench_.put(x_), dy = bench_.put(dy_);
  const Buffer dw = bench_.put(dw_before), db = bench_.put(db_before);

  bench_.kernels().linear_backward_weight(bench_.stream(), x.view(), dy.view(), dw.view(),
                                          db.view(), s);

  const auto xt = reference::transpose(widened(x_), s.m, s.k);
  const auto product = reference::linear(xt, widened(dy_), {}, {s.k, s.m, s.n});
  const std::vector<double> ones(static_cast<std::size_t>(s.m), 1.0);
  const auto sums = reference::linear(ones, widened(dy_), {}, {1, s.m, s.n});
  EXPECT_LT(worst_error(bench_.get(dw), reference::plus(product, widened(dw_before))), tolerance());
  EXPECT_LT(worst_error(bench_.get(db), reference::plus(sums, widened(db_before))), tolerance());
}

TEST_P(LinearTest, BackwardWeightSkipsAnEmptyBias) {
  const MatrixShape s = GetParam();
  const Buffer x = bench_.put(x_), dy = bench_.put(dy_);
  const Buffer dw = bench_.put(std::vector<float>(w_.size(), 0.0F));

  bench_.kernels().linear_backward_weight(bench_.stream(), x.view(), dy.view(), dw.view(), {}, s);

  const auto xt = reference::transpose(widened(x_), s.m, s.k);
  const auto expected = reference::linear(xt, widened(dy_), {}, {s.k, s.m, s.n});
  EXPECT_LT(worst_error(bench_.get(dw), expected), tolerance());
}

// The head's weight is (N,K): the same numbers, read the other way round.
TEST_P(LinearTest, HeadMultipliesByTheTransposedEmbedding) {
  const MatrixShape s = GetParam();
  const Buffer x = bench_.put(x_), w = bench_.put(w_), y = bench_.empty(s.m * s.n);

  bench_.kernels().head(bench_.stream(), x.view(), w.view(), y.view(), s);

  const auto wt = reference::transpose(widened(w_), s.n, s.k);
  EXPECT_LT(worst_error(bench_.get(y), reference::linear(widened(x_), wt, {}, s)), tolerance());
}

TEST_P(LinearTest, HeadBackwardInputMultipliesByTheEmbedding) {
  const MatrixShape s = GetParam();
  const Buffer dy = bench_.put(dy_), w = bench_.put(w_), dx = bench_.empty(s.m * s.k);

  bench_.kernels().head_backward_input(bench_.stream(), dy.view(), w.view(), dx.view(), s);

  const auto expected = reference::linear(widened(dy_), widened(w_), {}, {s.m, s.n, s.k});
  EXPECT_LT(worst_error(bench_.get(dx), expected), tolerance());
}

TEST_P(LinearTest, HeadBackwardWeightAddsToTheGradient) {
  const MatrixShape s = GetParam();
  const auto before = numbers(s.k * s.n, 8);
  const Buffer x = bench_.put(x_), dy = bench_.put(dy_), dw = bench_.put(before);

  bench_.kernels().head_backward_weight(bench_.stream(), dy.view(), x.view(), dw.view(), s);

  const auto dyt = reference::transpose(widened(dy_), s.m, s.n);
  const auto product = reference::linear(dyt, widened(x_), {}, {s.n, s.m, s.k});
  EXPECT_LT(worst_error(bench_.get(dw), reference::plus(product, widened(before))), tolerance());
}

INSTANTIATE_TEST_SUITE_P(OddSizes, LinearTest,
                         ::testing::Values(MatrixShape{5, 7, 3}, MatrixShape{1, 1, 1},
                                           MatrixShape{1, 9, 17}, MatrixShape{13, 1, 1},
                                           MatrixShape{3, 300, 2}, MatrixShape{301, 5, 3},
                                           MatrixShape{2, 3, 1037}, MatrixShape{67, 129, 535}),
                         [](const auto& chosen) {
                           const MatrixShape s = chosen.param;
                           return fmt::format("M{}K{}N{}", s.m, s.k, s.n);
                         });

TEST(LinearSizes, AWrongSizeIsReportedWithBothCounts) {
  KernelBench bench;
  const Buffer x = bench.empty(6), w = bench.empty(6), y = bench.empty(5);
  try {
    bench.kernels().linear(bench.stream(), x.view(), w.view(), {}, y.view(), {2, 3, 2});
    FAIL() << "a result of the wrong size was accepted";
  } catch (const std::logic_error& error) {
    EXPECT_STREQ(error.what(), "[linear] the (M,N) matrix has 5 elements, its shape needs 4");
  }
}

}  // namespace
}  // namespace zerolab::testing_kernels
