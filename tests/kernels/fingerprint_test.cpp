// The commutative hash: equal for every cut, different for every change.
#include "stages/kernels/cpu/fingerprint.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>

#include "tests/kernels/kernel_bench.h"

namespace zerolab::cpu {
namespace {

using testing_kernels::KernelBench;
using testing_kernels::numbers;

std::uint64_t hash(const std::vector<float>& x, std::int64_t first_index = 0) {
  KernelBench bench;
  const auto n = static_cast<std::int64_t>(x.size());
  const Buffer values = bench.put(x), out = bench.put(std::vector<std::uint64_t>{0});
  bench.kernels().fingerprint(bench.stream(), values.view(), {{0, first_index, 0, n, false}},
                              out.view());
  return bench.get<std::uint64_t>(out)[0];
}

TEST(Fingerprint, IsTheSumOfTheElementsContributions) {
  const auto x = numbers(10'007, 1);
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    expected += fingerprint_of_element(static_cast<std::int64_t>(i) + 5'000'000'000,
                                       std::bit_cast<std::uint32_t>(x[i]));
  }
  EXPECT_EQ(hash(x, 5'000'000'000), expected);
}

TEST(Fingerprint, DoesNotDependOnTheCutOrOnWhereSlicesLie) {
  const auto x = numbers(200'003, 1);
  KernelBench bench(3);
  // Three owners, in another order in memory than in the tensor, with gaps.
  std::vector<float> moved(200'100, NAN);
  std::copy(x.begin(), x.begin() + 70'001, moved.begin() + 130'050);
  std::copy(x.begin() + 70'001, x.begin() + 70'004, moved.begin() + 7);
  std::copy(x.begin() + 70'004, x.end(), moved.begin() + 11);
  const Buffer values = bench.put(moved), out = bench.put(std::vector<std::uint64_t>{0, 0});

  bench.kernels().fingerprint(
      bench.stream(), values.view(),
      {{1, 0, 130'050, 70'001, false}, {1, 70'001, 7, 3, false}, {1, 70'004, 11, 129'999, false}},
      out.view());

  EXPECT_EQ(bench.get<std::uint64_t>(out), (std::vector<std::uint64_t>{0, hash(x)}));
}

TEST(Fingerprint, EverySingleBitFlipChangesIt) {
  const auto x = numbers(37, 1);
  std::set<std::uint64_t> seen{hash(x)};
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (unsigned bit = 0; bit < 32; ++bit) {
      auto changed = x;
      changed[i] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x[i]) ^ (1U << bit));
      std::uint64_t sum = 0;
      for (std::size_t j = 0; j < x.size(); ++j) {
        sum += fingerprint_of_element(static_cast<std::int64_t>(j),
                                      std::bit_cast<std::uint32_t>(changed[j]));
      }
      EXPECT_TRUE(seen.insert(sum).second) << "bit " << bit << " of element " << i;
    }
  }
}

TEST(Fingerprint, SwappingTwoElementsChangesIt) {
  // Values as they occur: zero and one, neighbours in their last bit, opposite signs.
  const std::vector<std::uint32_t> values{0U, 1U, 0x3f800000U, 0x3f800001U, 0xbf800000U};
  std::int64_t collisions = 0;
  for (std::int64_t i = 0; i < 200; ++i) {
    for (std::int64_t j = i + 1; j < 200; ++j) {
      for (const std::uint32_t a : values) {
        for (const std::uint32_t b : values) {
          if (a == b) continue;
          const auto kept = fingerprint_of_element(i, a) + fingerprint_of_element(j, b);
          const auto swapped = fingerprint_of_element(i, b) + fingerprint_of_element(j, a);
          collisions += kept == swapped ? 1 : 0;
        }
      }
    }
  }
  EXPECT_EQ(collisions, 0);
}

TEST(Fingerprint, MovingAChangeElsewhereIsSeen) {
  // The same change at another place, and two changes that would cancel in a linear hash.
  std::set<std::uint64_t> sums;
  const auto x = numbers(64, 2);
  for (std::size_t i = 0; i < 64; ++i) {
    for (std::size_t j = 0; j < 64; ++j) {
      if (i == j) continue;
      std::uint64_t sum = 0;
      for (std::size_t k = 0; k < 64; ++k) {
        auto pattern = std::bit_cast<std::uint32_t>(x[k]);
        if (k == i) pattern += 1;
        if (k == j) pattern -= 1;
        sum += fingerprint_of_element(static_cast<std::int64_t>(k), pattern);
      }
      EXPECT_TRUE(sums.insert(sum).second) << i << " " << j;
    }
  }
}

TEST(Fingerprint, ZerosAreNotNothing) {
  std::set<std::uint64_t> seen;
  for (std::size_t n = 0; n < 100; ++n) {
    EXPECT_TRUE(seen.insert(hash(std::vector<float>(n, 0.0F))).second) << n << " zeros";
  }
}

TEST(Fingerprint, SixteenBitElementsAreHashedByPattern) {
  KernelBench bench;
  std::vector<std::uint16_t> patterns;
  std::uint64_t expected = 0;
  for (std::int64_t i = 0; i < 1'003; ++i) {
    patterns.push_back(static_cast<std::uint16_t>(i * 7919));
    expected += fingerprint_of_element(i, patterns.back());
  }
  for (const DType dtype : {DType::kBFloat16, DType::kFloat16}) {
    const Buffer x = bench.put(patterns, dtype), out = bench.put(std::vector<std::uint64_t>{0});
    bench.kernels().fingerprint(bench.stream(), x.view(), {{0, 0, 0, 1'003, false}}, out.view());
    EXPECT_EQ(bench.get<std::uint64_t>(out)[0], expected);
  }
}

}  // namespace
}  // namespace zerolab::cpu
