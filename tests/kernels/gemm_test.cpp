// The one-thread matrix product itself.
#include "stages/kernels/cpu/gemm.h"

#include <gtest/gtest.h>

#include "tests/kernels/kernel_bench.h"

namespace zerolab::cpu {
namespace {

using testing_kernels::numbers;

struct Layout {
  bool a_transposed, b_transposed;
};

class GemmTest : public ::testing::TestWithParam<Layout> {
 protected:
  /// Multiplies into the left part of rows that are `stride` long, and checks some elements against
  /// fp64 sums and all of the right part against what was there before.
  void expect_product(MatrixShape s, std::int64_t stride, float alpha) {
    prepare_gemm();
    const bool ta = GetParam().a_transposed, tb = GetParam().b_transposed;
    const std::vector<float> a = numbers(s.m * s.k, 1), b = numbers(s.k * s.n, 2);
    const std::vector<float> before = numbers(s.m * stride, 3);
    std::vector<float> c = before;

    gemm({a.data(), ta ? s.m : s.k, ta}, {b.data(), tb ? s.k : s.n, tb}, c.data(), stride, s,
         alpha);

    const std::int64_t step = 1 + s.m * stride / 997;
    for (std::int64_t at = 0; at < s.m * stride; at += step) {
      const std::int64_t row = at / stride, column = at % stride;
      const auto i = static_cast<std::size_t>(at);
      if (column >= s.n) {
        ASSERT_EQ(c[i], before[i]) << "beyond row " << row;
        continue;
      }
      double sum = 0.0;
      for (std::int64_t k = 0; k < s.k; ++k) {
        const std::int64_t at_a = ta ? k * s.m + row : row * s.k + k;
        const std::int64_t at_b = tb ? column * s.k + k : k * s.n + column;
        sum += static_cast<double>(a[static_cast<std::size_t>(at_a)]) *
               static_cast<double>(b[static_cast<std::size_t>(at_b)]);
      }
      const double expected = static_cast<double>(before[i]) + static_cast<double>(alpha) * sum;
      ASSERT_NEAR(static_cast<double>(c[i]), expected, 2e-5) << row << ", " << column;
    }
  }
};

TEST_P(GemmTest, AddsTheScaledProductInEveryLayout) { expect_product({19, 23, 29}, 29, 0.5F); }

TEST_P(GemmTest, LeavesTheRestOfLongerRowsAlone) { expect_product({19, 23, 29}, 40, 1.0F); }

TEST_P(GemmTest, ALargeResultWithRaggedRowsIsRight) { expect_product({300, 300, 189}, 191, 1.0F); }

TEST_P(GemmTest, OneRowOneColumnAndOneTermAreProducts) {
  expect_product({1, 300, 7}, 7, 1.0F);
  expect_product({300, 7, 1}, 1, 1.0F);
  expect_product({31, 1, 33}, 33, 1.0F);
}

INSTANTIATE_TEST_SUITE_P(Layouts, GemmTest,
                         ::testing::Values(Layout{false, false}, Layout{true, false},
                                           Layout{false, true}, Layout{true, true}),
                         [](const auto& chosen) {
                           return std::string(chosen.param.a_transposed ? "At" : "A") +
                                  (chosen.param.b_transposed ? "Bt" : "B");
                         });

}  // namespace
}  // namespace zerolab::cpu
