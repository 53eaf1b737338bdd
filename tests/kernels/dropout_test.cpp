// Dropout against its definition by counters, in plain tensors and in attention.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/kernels/kernel_bench.h"
#include "tests/kernels/reference.h"

namespace zerolab::testing_kernels {
namespace {

const DropoutMask kMask{0.3, 0x1122334455667788, 5, 40, 19};

/// The definition: word e mod 4 of the counter ⌊e/4⌋, compared with probability · 2³².
bool dropped(const DropoutMask& mask, std::int64_t row, std::int64_t element) {
  const auto group = static_cast<std::uint64_t>(element / 4);
  const auto words =
      philox({static_cast<std::uint32_t>(group), static_cast<std::uint32_t>(group >> 32U),
              static_cast<std::uint32_t>(mask.first_sample + row), mask.site},
             {static_cast<std::uint32_t>(mask.seed), static_cast<std::uint32_t>(mask.seed >> 32U) +
                                                         static_cast<std::uint32_t>(mask.step)});
  return words[static_cast<std::size_t>(element % 4)] < mask.probability * 0x1p32;
}

double scale(const DropoutMask& mask, std::int64_t row, std::int64_t element) {
  return dropped(mask, row, element) ? 0.0 : 1.0 / (1.0 - mask.probability);
}

std::vector<float> drop(KernelBench& bench, const std::vector<float>& x, std::int64_t samples,
                        const DropoutMask& mask) {
  const Buffer from = bench.put(x), to = bench.empty(static_cast<std::int64_t>(x.size()));
  bench.kernels().dropout(bench.stream(), from.view(), {}, to.view(), samples, mask);
  return bench.get(to);
}

TEST(Dropout, ScalesWhatItsCountersKeepAndZeroesTheRest) {
  constexpr std::int64_t kSamples = 3, kSize = 4999;  // ends inside a group of four
  KernelBench bench;
  const std::vector<float> x = numbers(kSamples * kSize, 1);

  const std::vector<float> y = drop(bench, x, kSamples, kMask);

  const auto kept = static_cast<float>(1.0 / 0.7);
  for (std::int64_t i = 0; i < kSamples * kSize; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const float expected = dropped(kMask, i / kSize, i % kSize) ? 0.0F : kept * x[at];
    ASSERT_EQ(y[at], expected) << "element " << i;
  }
}

TEST(Dropout, DropsThePartThatItIsTold) {
  constexpr std::int64_t kCount = 100'000;
  KernelBench bench;
  for (const double probability : {0.0, 0.1, 0.5, 0.9}) {
    DropoutMask mask = kMask;
    mask.probability = probability;
    const auto y = drop(bench, std::vector<float>(kCount, 1.0F), 1, mask);
    const auto zeros = static_cast<double>(std::ranges::count(y, 0.0F));
    const double deviation = std::sqrt(kCount * probability * (1 - probability));
    EXPECT_LE(std::abs(zeros - kCount * probability), 5 * deviation) << probability;
  }
}

TEST(Dropout, DrawsOtherElementsForEverySampleStepSiteAndSeed) {
  KernelBench bench;
  const std::vector<float> ones(4000, 1.0F);
  DropoutMask sample = kMask, step = kMask, site = kMask, seed = kMask;
  ++sample.first_sample;
  ++step.step;
  ++site.site;
  ++seed.seed;
  const std::vector<float> y = drop(bench, ones, 1, kMask);
  for (const DropoutMask& other : {sample, step, site, seed}) {
    const std::vector<float> z = drop(bench, ones, 1, other);
    double both = 0;
    for (std::size_t i = 0; i < y.size(); ++i) both += y[i] == 0 && z[i] == 0 ? 1 : 0;
    EXPECT_NEAR(both / 4000, 0.09, 0.025) << "the two masks are not independent";
  }
}

TEST(Dropout, OfOneSampleDoesNotDependOnThoseBesideIt) {
  constexpr std::int64_t kSize = 101;
  KernelBench bench;
  const std::vector<float> x = numbers(4 * kSize, 2);
  const std::vector<float> together = drop(bench, x, 4, kMask);
  DropoutMask third = kMask;
  third.first_sample += 2;
  const auto begin = x.begin() + 2 * kSize;
  const std::vector<float> alone = drop(bench, {begin, begin + kSize}, 1, third);
  EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.begin() + 2 * kSize));
}

TEST(Dropout, AddsToTheResidualInPlace) {
  KernelBench bench;
  const std::vector<float> x = numbers(60, 3), residual = numbers(60, 4);
  const std::vector<float> kept = drop(bench, x, 2, kMask);
  const Buffer y = bench.put(x), base = bench.put(residual);

  bench.kernels().dropout(bench.stream(), y.view(), base.view(), y.view(), 2, kMask);

  const std::vector<float> sum = bench.get(y);
  for (std::size_t i = 0; i < sum.size(); ++i) EXPECT_EQ(sum[i], residual[i] + kept[i]);
}

TEST(Dropout, RefusesToDropEverything) {
  KernelBench bench;
  DropoutMask mask = kMask;
  mask.probability = 1;
  EXPECT_THROW(drop(bench, {1, 2}, 1, mask), std::logic_error);
}

/// Attention with dropped probabilities, from its definition.
reference::Vector attend(const reference::Vector& qkv, AttentionShape s, const DropoutMask& mask) {
  const std::int64_t C = s.heads * s.head_size;
  reference::Vector y(static_cast<std::size_t>(s.batch * s.time * C));
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t h = 0; h < s.heads; ++h) {
      for (std::int64_t q = 0; q < s.time; ++q) {
        std::vector<double> p;
        double sum = 0;
        for (std::int64_t k = 0; k <= q; ++k) {
          double score = 0;
          for (std::int64_t c = 0; c < s.head_size; ++c) {
            const std::int64_t channel = h * s.head_size + c;
            score += reference::at(qkv, (b * s.time + q) * 3 * C + channel) *
                     reference::at(qkv, (b * s.time + k) * 3 * C + C + channel);
          }
          p.push_back(std::exp(score / std::sqrt(static_cast<double>(s.head_size))));
          sum += p.back();
        }
        for (std::int64_t k = 0; k <= q; ++k) {
          const double weight =
              p[static_cast<std::size_t>(k)] / sum * scale(mask, b, (h * s.time + q) * s.time + k);
          for (std::int64_t c = 0; c < s.head_size; ++c) {
            const std::int64_t channel = h * s.head_size + c;
            reference::at(y, (b * s.time + q) * C + channel) +=
                weight * reference::at(qkv, (b * s.time + k) * 3 * C + 2 * C + channel);
          }
        }
      }
    }
  }
  return y;
}

class DroppedAttention : public ::testing::TestWithParam<AttentionShape> {};

TEST_P(DroppedAttention, WeighsWhatIsKeptAndHasItsSlope) {
  const AttentionShape s = GetParam();
  const std::int64_t count = s.batch * s.time * s.heads * s.head_size;
  const std::vector<float> in = numbers(3 * count, 5, 1.5F), out_gradient = numbers(count, 6);
  KernelBench bench;
  const Buffer qkv = bench.put(in), dy = bench.put(out_gradient), y = bench.empty(count),
               saved = bench.empty(bench.kernels().attention_saved_count(s)),
               dqkv = bench.empty(3 * count);

  bench.kernels().attention(bench.stream(), qkv.view(), y.view(), saved.view(), s, kMask);
  bench.kernels().attention_backward(bench.stream(), dy.view(), qkv.view(), y.view(), saved.view(),
                                     dqkv.view(), s, kMask);

  EXPECT_LT(worst_error(bench.get(y), attend(widened(in), s, kMask)), 1e-5);
  const std::vector<double> d = widened(bench.get(dqkv));
  for (std::uint32_t seed = 10; seed < 14; ++seed) {
    const std::vector<double> direction = widened(numbers(3 * count, seed));
    const auto loss_at = [&](double step) {
      std::vector<double> moved = widened(in);
      for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += step * direction[i];
      return dot(widened(out_gradient), attend(moved, s, kMask));
    };
    const double expected = (loss_at(1e-6) - loss_at(-1e-6)) / 2e-6;
    EXPECT_NEAR(dot(d, direction), expected, 3e-5 * (1.0 + std::abs(expected)));
  }
}

INSTANTIATE_TEST_SUITE_P(OddSizes, DroppedAttention,
                         ::testing::Values(AttentionShape{2, 5, 3, 4}, AttentionShape{3, 9, 2, 7},
                                           AttentionShape{1, 67, 3, 5}),
                         [](const auto& chosen) {
                           const AttentionShape s = chosen.param;
                           return fmt::format("B{}T{}NH{}HS{}", s.batch, s.time, s.heads,
                                              s.head_size);
                         });

}  // namespace
}  // namespace zerolab::testing_kernels
