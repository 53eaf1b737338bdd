// Causal attention against fp64 and finite differences.
#include <gtest/gtest.h>

#include "tests/kernels/kernel_bench.h"
#include "tests/kernels/reference.h"

namespace zerolab::testing_kernels {
namespace {

class AttentionTest : public ::testing::TestWithParam<AttentionShape> {
 protected:
  const AttentionShape s_ = GetParam();
  const std::int64_t count_ = s_.batch * s_.time * s_.heads * s_.head_size;
  const std::vector<float> qkv_ = numbers(3 * count_, 1, 2.0F), dy_ = numbers(count_, 2);
  KernelBench bench_;
  Buffer qkv = bench_.put(qkv_), dy = bench_.put(dy_), y = bench_.empty(count_),
         saved = bench_.empty(bench_.kernels().attention_saved_count(s_)),
         dqkv = bench_.empty(3 * count_);

  void forward() {
    bench_.kernels().attention(bench_.stream(), qkv.view(), y.view(), saved.view(), s_);
  }
  void backward() {
    bench_.kernels().attention_backward(bench_.stream(), dy.view(), qkv.view(), y.view(),
                                        saved.view(), dqkv.view(), s_);
  }
};

TEST_P(AttentionTest, WeighsThePastByTheSoftmaxOfItsScores) {
  forward();

  EXPECT_LT(worst_error(bench_.get(y), reference::attention(widened(qkv_), s_)), 1e-5);
}

TEST_P(AttentionTest, BackwardGivesTheDirectionalSlope) {
  forward();
  backward();

  // Along a few random directions rather than along every axis: T² is large.
  const std::vector<double> d = widened(bench_.get(dqkv));
  for (std::uint32_t seed = 10; seed < 14; ++seed) {
    const std::vector<double> direction = widened(numbers(3 * count_, seed));
    const auto loss_at = [&](double step) {
      std::vector<double> moved = widened(qkv_);
      for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += step * direction[i];
      return dot(widened(dy_), reference::attention(moved, s_));
    };
    const double expected = (loss_at(1e-6) - loss_at(-1e-6)) / 2e-6;
    EXPECT_NEAR(dot(d, direction), expected, 3e-5 * (1.0 + std::abs(expected)));
  }
}

INSTANTIATE_TEST_SUITE_P(OddSizes, AttentionTest,
                         ::testing::Values(AttentionShape{2, 5, 3, 4}, AttentionShape{1, 1, 1, 1},
                                           AttentionShape{3, 9, 2, 7}, AttentionShape{1, 67, 3, 5},
                                           AttentionShape{2, 131, 1, 16}),
                         [](const auto& chosen) {
                           const AttentionShape s = chosen.param;
                           return fmt::format("B{}T{}NH{}HS{}", s.batch, s.time, s.heads,
                                              s.head_size);
                         });

TEST(Attention, EveryAxisOfASmallCaseHasItsSlope) {
  const AttentionShape s{1, 5, 3, 2};
  KernelBench bench;
  const auto in = numbers(90, 3), out_gradient = numbers(30, 4);
  const Buffer qkv = bench.put(in), dy = bench.put(out_gradient), y = bench.empty(30),
               saved = bench.empty(bench.kernels().attention_saved_count(s)),
               dqkv = bench.empty(90);

  bench.kernels().attention(bench.stream(), qkv.view(), y.view(), saved.view(), s);
  bench.kernels().attention_backward(bench.stream(), dy.view(), qkv.view(), y.view(), saved.view(),
                                     dqkv.view(), s);

  const auto expected = central_differences(widened(in), [&](const std::vector<double>& v) {
    return dot(widened(out_gradient), reference::attention(v, s));
  });
  EXPECT_LT(worst_error(bench.get(dqkv), expected), 1e-5);
}

TEST(Attention, TheFutureDoesNotChangeThePast) {
  for (const std::int64_t T : {2, 5, 67, 131}) {
    const AttentionShape s{1, T, 3, 4};
    const std::int64_t C = 12;
    KernelBench bench;
    std::vector<float> in = numbers(T * 3 * C, 3);
    const auto run = [&] {
      const Buffer qkv = bench.put(in), y = bench.empty(T * C),
                   saved = bench.empty(bench.kernels().attention_saved_count(s));
      bench.kernels().attention(bench.stream(), qkv.view(), y.view(), saved.view(), s);
      return bench.get(y);
    };
    const std::vector<float> before = run();
    for (auto value = in.end() - 3 * C; value != in.end(); ++value) *value += 1.0F;

    const std::vector<float> after = run();

    const auto past = static_cast<std::ptrdiff_t>((T - 1) * C);
    EXPECT_TRUE(std::equal(before.begin(), before.begin() + past, after.begin())) << "T " << T;
    EXPECT_NE(before, after) << "T " << T;
  }
}

TEST(Attention, LargeScoresDoNotOverflow) {
  const AttentionShape s{1, 3, 1, 4};
  KernelBench bench;
  const Buffer qkv = bench.put(numbers(36, 5, 100.0F)), y = bench.empty(12),
               saved = bench.empty(bench.kernels().attention_saved_count(s));

  bench.kernels().attention(bench.stream(), qkv.view(), y.view(), saved.view(), s);

  for (const float value : bench.get(y)) EXPECT_LE(std::abs(value), 100.0F);
}

}  // namespace
}  // namespace zerolab::testing_kernels
