// Layer norm against fp64 and finite differences.
#include <gtest/gtest.h>

#include "tests/kernels/kernel_bench.h"
#include "tests/kernels/reference.h"

namespace zerolab::testing_kernels {
namespace {

struct Size {
  std::int64_t rows, C;
};

class LayerNormTest : public ::testing::TestWithParam<Size> {
 protected:
  const std::int64_t rows_ = GetParam().rows, C_ = GetParam().C;
  const std::vector<float> x_ = numbers(rows_ * C_, 1, 3.0F), w_ = numbers(C_, 2),
                           b_ = numbers(C_, 3), dy_ = numbers(rows_ * C_, 4);
  KernelBench bench_;
  Buffer x = bench_.put(x_), w = bench_.put(w_), b = bench_.put(b_), dy = bench_.put(dy_);
  Buffer y = bench_.empty(rows_ * C_), mean = bench_.empty(rows_), rstd = bench_.empty(rows_);

  void forward() {
    bench_.kernels().layer_norm(bench_.stream(), x.view(), w.view(), b.view(), y.view(),
                                mean.view(), rstd.view(), rows_, C_);
  }
  void backward(View carry, const Buffer& dx, const Buffer& dw, const Buffer& db) {
    bench_.kernels().layer_norm_backward(bench_.stream(), dy.view(), x.view(), w.view(),
                                         mean.view(), rstd.view(), carry, dx.view(), dw.view(),
                                         db.view(), rows_, C_);
  }
  /// Σ dy ⊙ layer_norm(x, w, b)
  double loss(const std::vector<double>& at_x, const std::vector<double>& at_w,
              const std::vector<double>& at_b) const {
    return dot(widened(dy_), reference::layer_norm(at_x, at_w, at_b, rows_, C_));
  }
};

TEST_P(LayerNormTest, NormalisesEveryRow) {
  forward();

  const auto expected = reference::layer_norm(widened(x_), widened(w_), widened(b_), rows_, C_);
  EXPECT_LT(worst_error(bench_.get(y), expected), 1e-5);
}

TEST_P(LayerNormTest, BackwardGivesTheSlopes) {
  const auto dw_before = numbers(C_, 5), db_before = numbers(C_, 6);
  const Buffer dx = bench_.empty(rows_ * C_), dw = bench_.put(dw_before),
               db = bench_.put(db_before);
  forward();

  backward({}, dx, dw, db);

  const auto X = widened(x_), W = widened(w_), B = widened(b_);
  const auto slope_x = central_differences(X, [&](const auto& v) { return loss(v, W, B); });
  const auto slope_w = central_differences(W, [&](const auto& v) { return loss(X, v, B); });
  const auto slope_b = central_differences(B, [&](const auto& v) { return loss(X, W, v); });
  // With one channel the norm is constant and its slope is zero.
  if (C_ > 1) {
    EXPECT_LT(worst_error(bench_.get(dx), slope_x), 2e-5);
  }
  EXPECT_LT(worst_error(bench_.get(dw), reference::plus(slope_w, widened(dw_before))), 2e-5);
  EXPECT_LT(worst_error(bench_.get(db), reference::plus(slope_b, widened(db_before))), 2e-5);
}

TEST_P(LayerNormTest, BackwardAddsTheCarriedGradientAlsoInPlace) {
  const auto carried = numbers(rows_ * C_, 7);
  const Buffer plain = bench_.empty(rows_ * C_), apart = bench_.empty(rows_ * C_);
  const Buffer carry = bench_.put(carried), in_place = bench_.put(carried);
  const Buffer dw = bench_.put(w_), db = bench_.put(b_);
  forward();

  backward({}, plain, dw, db);
  backward(carry.view(), apart, dw, db);
  backward(in_place.view(), in_place, dw, db);

  std::vector<float> expected = bench_.get(plain);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += carried[i];
  EXPECT_EQ(bench_.get(apart), expected);
  EXPECT_EQ(bench_.get(in_place), expected);
}

INSTANTIATE_TEST_SUITE_P(OddSizes, LayerNormTest,
                         ::testing::Values(Size{5, 7}, Size{1, 1}, Size{3, 16}, Size{67, 9},
                                           Size{2, 131}),
                         [](const auto& chosen) {
                           return fmt::format("rows{}C{}", chosen.param.rows, chosen.param.C);
                         });

TEST(LayerNorm, KeepsItsPrecisionFarFromZero) {
  KernelBench bench;
  std::vector<float> far = numbers(3 * 33, 1);
  for (float& value : far) value += 1000.0F;
  const Buffer x = bench.put(far), w = bench.put(std::vector<float>(33, 1.0F)),
               b = bench.put(std::vector<float>(33, 0.0F)), y = bench.empty(3 * 33),
               mean = bench.empty(3), rstd = bench.empty(3);

  bench.kernels().layer_norm(bench.stream(), x.view(), w.view(), b.view(), y.view(), mean.view(),
                             rstd.view(), 3, 33);

  const std::vector<double> ones(33, 1.0), zeros(33, 0.0);
  const auto expected = reference::layer_norm(widened(far), ones, zeros, 3, 33);
  EXPECT_LT(worst_error(bench.get(y), expected), 2e-4);  // x itself is known to 6e-5
}

}  // namespace
}  // namespace zerolab::testing_kernels
