// The vector exponential and the GELU made from it.
#include "stages/kernels/cpu/simd.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "stages/kernels/cpu/gelu.h"
#include "tests/kernels/kernel_bench.h"
#include "tests/kernels/reference.h"

namespace zerolab::cpu {
namespace {

float exp1(float x) { return exp8(splat8(x))[0]; }

TEST(Exp8, IsWithinTwoUnitsInTheLastPlaceOfTheExponential) {
  double worst = 0.0;
  for (double x = -87.3; x < 88.36; x += 0.00137) {
    const auto rounded = static_cast<float>(x);
    const double expected = std::exp(static_cast<double>(rounded));
    const double actual = static_cast<double>(exp1(rounded));
    worst = std::max(worst, std::abs(actual - expected) / expected);
  }
  EXPECT_LT(worst, 0x1p-22);
}

TEST(Exp8, HasTheRightEnds) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(exp1(0.0F), 1.0F);
  EXPECT_EQ(exp1(-88.0F), 0.0F);
  EXPECT_EQ(exp1(-inf), 0.0F);
  EXPECT_EQ(exp1(88.7F), inf);
  EXPECT_EQ(exp1(inf), inf);
  EXPECT_TRUE(std::isnan(exp1(std::numeric_limits<float>::quiet_NaN())));
}

TEST(Gelu, IsAccurateAlsoWhereTheTanhFormCancels) {
  double worst = 0.0;
  for (float x = -12.0F; x < 12.0F; x += 0.00171F) {
    float y = 0.0F;
    gelu(&x, &y, 1);
    // x·σ(2u) in fp64
    const double wide = static_cast<double>(x);
    const double u = std::sqrt(2.0 / M_PI) * (wide + 0.044715 * wide * wide * wide);
    const double expected = wide / (1.0 + std::exp(-2.0 * u));
    const double scale = std::max(std::abs(expected), 1e-30);
    worst = std::max(worst, std::abs(static_cast<double>(y) - expected) / scale);
  }
  EXPECT_LT(worst, 2e-5);  // the exponent's rounding, amplified where |2u| is large
}

TEST(Gelu, TailAndBodyGiveTheSameBits) {
  const std::vector<float> x = testing_kernels::numbers(67, 1, 4.0F);
  std::vector<float> whole(67), pieces(67), slope(67, 1.0F), slope_pieces(67, 1.0F);
  gelu(x.data(), whole.data(), 67);
  gelu_backward(x.data(), slope.data(), 67);
  for (std::int64_t i = 0; i < 67; i += 3) {
    const std::int64_t n = std::min<std::int64_t>(3, 67 - i);
    gelu(x.data() + i, pieces.data() + i, n);
    gelu_backward(x.data() + i, slope_pieces.data() + i, n);
  }
  EXPECT_EQ(whole, pieces);
  EXPECT_EQ(slope, slope_pieces);
}

TEST(Gelu, TheSlopeOfHugeInputsIsOneOrZeroAndNanStaysNan) {
  const std::vector<float> x{1e30F, -1e30F, 50.0F, -50.0F, std::numeric_limits<float>::quiet_NaN()};
  std::vector<float> slope(5, 1.0F);
  gelu_backward(x.data(), slope.data(), 5);
  EXPECT_EQ(slope[0], 1.0F);
  EXPECT_EQ(slope[1], 0.0F);
  EXPECT_EQ(slope[2], 1.0F);
  EXPECT_EQ(slope[3], 0.0F);
  EXPECT_TRUE(std::isnan(slope[4]));
}

}  // namespace
}  // namespace zerolab::cpu
