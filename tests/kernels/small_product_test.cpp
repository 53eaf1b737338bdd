// The product of matrices in cache that attention is made of.
#include "stages/kernels/cpu/small_product.h"

#include <gtest/gtest.h>

#include "tests/kernels/kernel_bench.h"

namespace zerolab::cpu {
namespace {

using testing_kernels::numbers;

float value(const std::vector<float>& x, std::int64_t i) { return x[static_cast<std::size_t>(i)]; }

void expect_product(MatrixShape s, bool a_transposed, bool accumulate) {
  // Rows longer than needed, and NaN there: neither read nor written.
  const std::int64_t b_stride = s.n + 3, c_stride = s.n + 5;
  const std::vector<float> a = numbers(s.m * s.k, 1);
  std::vector<float> b = numbers(s.k * b_stride, 2), c = numbers(s.m * c_stride, 3);
  for (std::int64_t i = 0; i < s.k * b_stride; ++i) {
    if (i % b_stride >= s.n) b[static_cast<std::size_t>(i)] = NAN;
  }
  const std::vector<float> before = c;

  small_product({a.data(), a_transposed ? s.m : s.k, a_transposed}, b.data(), b_stride, c.data(),
                c_stride, s, accumulate);

  for (std::int64_t r = 0; r < s.m; ++r) {
    for (std::int64_t j = 0; j < c_stride; ++j) {
      const std::int64_t at = r * c_stride + j;
      if (j >= s.n) {
        ASSERT_EQ(value(c, at), value(before, at)) << "beyond row " << r;
        continue;
      }
      double sum = accumulate ? static_cast<double>(value(before, at)) : 0.0;
      for (std::int64_t k = 0; k < s.k; ++k) {
        sum += static_cast<double>(value(a, a_transposed ? k * s.m + r : r * s.k + k)) *
               static_cast<double>(value(b, k * b_stride + j));
      }
      ASSERT_NEAR(static_cast<double>(value(c, at)), sum, 1e-5) << r << ", " << j;
    }
  }
}

TEST(SmallProduct, IsRightForEveryRemainderOfRowsAndColumns) {
  for (std::int64_t m = 1; m <= 13; ++m) {
    for (const std::int64_t n : {1, 7, 8, 15, 16, 17, 33}) {
      for (const bool transposed : {false, true}) {
        for (const bool accumulate : {false, true})
          expect_product({m, 5, n}, transposed, accumulate);
      }
    }
  }
}

TEST(SmallProduct, ALongSumIsRightInTheLastColumnsToo) {
  expect_product({7, 300, 21}, false, false);
  expect_product({7, 300, 21}, true, true);
  expect_product({7, 256, 5}, false, true);
}

TEST(SmallProduct, WithoutTermsItIsZeroOrWhatWasThere) {
  expect_product({7, 0, 21}, false, false);
  expect_product({7, 0, 21}, false, true);
}

}  // namespace
}  // namespace zerolab::cpu
