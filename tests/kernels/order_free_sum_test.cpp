// Sums of squares whose bits do not depend on order, cut or threads.
#include "stages/kernels/cpu/order_free_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <random>

#include "stages/core/convert.h"
#include "tests/kernels/kernel_bench.h"

namespace zerolab::cpu {
namespace {

using testing_kernels::KernelBench;
using testing_kernels::numbers;

constexpr float kFloatMax = std::numeric_limits<float>::max();

std::int32_t bits(float x) { return std::bit_cast<std::int32_t>(x); }

View view_of(std::vector<float>& x) {
  return {reinterpret_cast<std::byte*>(x.data()), DType::kFloat32,
          static_cast<std::int64_t>(x.size())};
}

Segment segment(std::int64_t begin, std::int64_t count) { return {0, begin, begin, count, false}; }

Folds folds_of(std::vector<float>& x, const std::vector<Segment>& segments, std::int32_t max_bits,
               std::int64_t count, int threads = 2) {
  ThreadTeam team(threads);
  return sum_of_squares(team, view_of(x), segments, max_bits, count);
}

std::vector<std::uint64_t> patterns(const Folds& f) {
  return {std::bit_cast<std::uint64_t>(f.value[0]), std::bit_cast<std::uint64_t>(f.value[1]),
          std::bit_cast<std::uint64_t>(f.value[2])};
}

std::int32_t max_bits_of(std::vector<float>& x) {
  ThreadTeam team(1);
  return max_magnitude(team, view_of(x), {segment(0, static_cast<std::int64_t>(x.size()))});
}

/// Numbers of very different size: the hard case for a plain sum.
std::vector<float> spread(std::int64_t count, std::uint32_t seed) {
  std::vector<float> x = numbers(count, seed);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::ldexp(x[i], static_cast<int>(i % 40) - 30);
  return x;
}

TEST(OrderFreeSum, AnyOrderCutAndThreadCountGiveTheSameBits) {
  std::mt19937 random(1);
  for (const std::int64_t global_count : {std::int64_t{150'001}, std::int64_t{1} << 30}) {
    std::vector<float> x = spread(150'001, 1);
    const std::int32_t max = max_bits_of(x);
    const auto expected = patterns(folds_of(x, {segment(0, 150'001)}, max, global_count, 1));
    for (int trial = 0; trial < 8; ++trial) {
      std::shuffle(x.begin(), x.end(), random);
      std::vector<Segment> cut;
      for (std::int64_t at = 0; at < 150'001;) {
        const std::int64_t n = std::min<std::int64_t>(1 + random() % 30'000, 150'001 - at);
        cut.push_back(segment(at, n));
        at += n;
      }
      EXPECT_EQ(patterns(folds_of(x, cut, max, global_count, 1 + trial % 3)), expected)
          << "trial " << trial << " of " << global_count << " elements";
    }
  }
}

TEST(OrderFreeSum, PartsOfRanksAddUpToTheSameBits) {
  std::vector<float> x = spread(90'000, 2);
  const std::int32_t max = max_bits_of(x);
  const auto whole = patterns(folds_of(x, {segment(0, 90'000)}, max, 90'000));
  for (const std::int64_t ranks : {2, 3, 4, 7}) {
    Folds sum;
    const std::int64_t share = (90'000 + ranks - 1) / ranks;
    for (std::int64_t rank = ranks - 1; rank >= 0; --rank) {  // backwards: order does not matter
      const std::int64_t begin = rank * share;
      const std::int64_t n = std::min(share, 90'000 - begin);
      const Folds part = folds_of(x, {segment(begin, n)}, max, 90'000);
      for (int f = 0; f < 3; ++f) sum.value[f] += part.value[f];
    }
    EXPECT_EQ(patterns(sum), whole) << ranks << " ranks";
  }
}

TEST(OrderFreeSum, IsTheSumOfSquares) {
  std::vector<float> x = spread(100'003, 3);
  const Folds f = folds_of(x, {segment(0, 100'003)}, max_bits_of(x), 100'003);

  long double expected = 0.0L;
  for (const float value : x) {
    expected += static_cast<long double>(value) * static_cast<long double>(value);
  }
  const double sum = f.value[0] + (f.value[1] + f.value[2]);
  EXPECT_NEAR(sum / static_cast<double>(expected), 1.0, 1e-14);
}

// The bound behind exactness, at sizes that cannot be allocated: even if every one of 2^c elements
// rounds up, each fold's total stays within 53 bits of its unit, and every remainder within the
// reach of the next fold.
TEST(OrderFreeSum, EveryPartialSumFitsInto53BitsByFormula) {
  for (const float max : {kFloatMax, 1.0F, 1.99F, 3e-20F, std::numeric_limits<float>::denorm_min(),
                          std::nextafter(2.0F, 0.0F)}) {
    for (const std::int64_t count :
         {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{1} << 24,
          (std::int64_t{1} << 24) + 1, (std::int64_t{1} << 31) + 5, std::int64_t{1} << 32}) {
      const FoldConstants c = fold_constants(bits(max), count);
      EXPECT_EQ(c.folds, count > (std::int64_t{1} << 24) ? 3 : 2);
      double largest = static_cast<double>(max) * static_cast<double>(max);
      for (int f = 0; f < 3; ++f) {
        const double unit = c.sigma[f] / 0x1.8p52;
        ASSERT_TRUE(std::isnormal(unit));
        // σ ± t must keep σ's exponent ([2^52, 2^53] units): then its unit is the rounding unit.
        EXPECT_LE(largest, 0x1p51 * unit) << max << " " << count << " fold " << f;
        // A rounded term is at most largest + unit / 2.
        const double total = static_cast<double>(count) * (largest / unit + 0.5);
        EXPECT_LE(total, 0x1p53) << max << " " << count << " fold " << f;
        largest = unit / 2.0;
      }
    }
  }
}

TEST(OrderFreeSum, IsExactAtExtremeMaxima) {
  for (const float value : {kFloatMax, std::numeric_limits<float>::denorm_min(), 1e-30F}) {
    std::vector<float> x(1000, value);
    const double square = static_cast<double>(value) * static_cast<double>(value);
    const Folds whole = folds_of(x, {segment(0, 1000)}, bits(value), 1000);
    const Folds cut = folds_of(x, {segment(0, 333), segment(333, 667)}, bits(value), 1000, 3);
    EXPECT_EQ(patterns(whole), patterns(cut)) << value;
    const double sum = whole.value[0] + (whole.value[1] + whole.value[2]);
    EXPECT_NEAR(sum / (1000.0 * square), 1.0, 1e-15) << value;
  }
}

TEST(OrderFreeSum, FullUseOfTheBoundIsStillExact) {
  // All elements at the maximum, the count a power of two: the largest total that is allowed for.
  std::vector<float> x(1 << 17, std::nextafter(2.0F, 0.0F));
  const std::int64_t n = 1 << 17;
  const Folds whole = folds_of(x, {segment(0, n)}, bits(x[0]), n);
  const Folds cut =
      folds_of(x, {segment(n / 2 + 1, n / 2 - 1), segment(0, n / 2 + 1)}, bits(x[0]), n, 3);
  EXPECT_EQ(patterns(whole), patterns(cut));
}

TEST(OrderFreeSum, MoreElementsThanTheBoundAllowsIsRefused) {
  EXPECT_THROW(fold_constants(bits(1.0F), (std::int64_t{1} << 32) + 1), std::logic_error);
}

TEST(MaxMagnitude, OrdersInfinityAndNanOnTop) {
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<float> x = numbers(100'000, 1);
  EXPECT_LT(max_bits_of(x), bits(1.0F));
  x[70'000] = -3.0F;
  EXPECT_EQ(max_bits_of(x), bits(3.0F));
  x[10] = -inf;
  EXPECT_EQ(max_bits_of(x), bits(inf));
  x[99'999] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_GT(max_bits_of(x), bits(inf));
}

TEST(MaxMagnitude, KeepsWhatTheResultHeldAndSkipsPadding) {
  KernelBench bench;
  const Buffer x = bench.put(std::vector<float>{1.0F, NAN, -2.0F}),
               out = bench.put(std::vector<std::int32_t>{bits(1.5F)});

  bench.kernels().max_magnitude(bench.stream(), x.view(), {segment(0, 1)}, out.view());
  EXPECT_EQ(bench.get<std::int32_t>(out)[0], bits(1.5F));
  bench.kernels().max_magnitude(bench.stream(), x.view(), {segment(0, 1), segment(2, 1)},
                                out.view());
  EXPECT_EQ(bench.get<std::int32_t>(out)[0], bits(2.0F));
}

TEST(SumOfSquares, SixteenBitViewsGiveTheSumOfTheirFp32Values) {
  KernelBench bench;
  const auto values = numbers(5'001, 1);
  std::vector<float> rounded;
  for (const float value : values) rounded.push_back(to_float(to_bfloat16(value)));
  const Buffer x = bench.put(values), narrow = bench.empty(5'001, DType::kBFloat16),
               wide = bench.put(rounded), maxima = bench.put(std::vector<std::int32_t>{bits(1.0F)}),
               a = bench.put(std::vector<double>(3, 0.0)),
               b = bench.put(std::vector<double>(3, 0.0));

  bench.kernels().cast(bench.stream(), x.view(), narrow.view());
  for (const auto& [from, to] : {std::pair{&narrow, &a}, std::pair{&wide, &b}}) {
    bench.kernels().sum_of_squares(bench.stream(), from->view(), {segment(0, 5'001)}, maxima.view(),
                                   5'001, to->view());
  }

  EXPECT_EQ(bench.get<double>(a), bench.get<double>(b));
  EXPECT_GT(bench.get<double>(a)[0], 0.0);
}

struct NormCase {
  double scale, max_norm;
  float norm, factor;
};

std::vector<float> norm_of(std::vector<float> x, double scale, double max_norm) {
  KernelBench bench;
  const auto n = static_cast<std::int64_t>(x.size());
  const Buffer values = bench.put(x), maxima = bench.put(std::vector<std::int32_t>{0, 0}),
               sums = bench.put(std::vector<double>(6, 0.0)), out = bench.empty(2);
  // Two ranks: one has the first element, the other has the rest.
  bench.kernels().max_magnitude(bench.stream(), values.view(), {segment(0, 1)}, maxima.slice(0, 1));
  bench.kernels().max_magnitude(bench.stream(), values.view(), {segment(1, n - 1)},
                                maxima.slice(1, 1));
  bench.kernels().sum_of_squares(bench.stream(), values.view(), {segment(0, 1)}, maxima.view(), n,
                                 sums.slice(0, 3));
  bench.kernels().sum_of_squares(bench.stream(), values.view(), {segment(1, n - 1)}, maxima.view(),
                                 n, sums.slice(3, 3));
  bench.kernels().norm_and_factor(bench.stream(), maxima.view(), sums.view(), 2, scale, max_norm,
                                  out.view());
  return bench.get(out);
}

TEST(NormAndFactor, ClipsOnlyAboveTheMaximum) {
  EXPECT_EQ(norm_of({3.0F, 4.0F}, 1.0, 10.0), (std::vector<float>{5.0F, 1.0F}));
  EXPECT_EQ(norm_of({3.0F, 4.0F}, 0.5, 0.0), (std::vector<float>{2.5F, 0.5F}));
  const auto clipped = norm_of({3.0F, 4.0F}, 0.5, 1.0);
  EXPECT_EQ(clipped[0], 2.5F);
  EXPECT_EQ(clipped[1], static_cast<float>(0.5 * (1.0 / (2.5 + 1e-6))));
}

TEST(NormAndFactor, ZeroGradientsAreNotClipped) {
  EXPECT_EQ(norm_of({0.0F, 0.0F}, 0.25, 1.0), (std::vector<float>{0.0F, 0.25F}));
}

TEST(NormAndFactor, AValueThatIsNotFiniteGivesNan) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const float bad : {inf, -inf, std::numeric_limits<float>::quiet_NaN()}) {
    for (const double max_norm : {0.0, 1.0}) {
      const auto both = norm_of({1.0F, 2.0F, bad}, 1.0, max_norm);
      EXPECT_TRUE(std::isnan(both[0]) && std::isnan(both[1])) << bad;
    }
  }
}

}  // namespace
}  // namespace zerolab::cpu
