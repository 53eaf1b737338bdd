#include "stages/comm/sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "stages/core/convert.h"

namespace zerolab {
namespace {

template <class T>
std::vector<const std::byte*> pointers(const std::vector<std::vector<T>>& terms) {
  std::vector<const std::byte*> result;
  for (const auto& term : terms) result.push_back(reinterpret_cast<const std::byte*>(term.data()));
  return result;
}

template <class T>
std::byte* bytes(std::vector<T>& values) {
  return reinterpret_cast<std::byte*>(values.data());
}

// Values of all signs whose sums round.
std::vector<std::vector<float>> rounding_terms(int terms, std::size_t count) {
  std::vector<std::vector<float>> result(static_cast<std::size_t>(terms));
  for (std::size_t t = 0; t < result.size(); ++t) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto mixed = static_cast<std::uint32_t>(i * 2654435761U + t * 97531U);
      result[t].push_back(std::ldexp(1.0F + static_cast<float>(mixed % 1000U) / 1001.0F,
                                     static_cast<int>(mixed / 1000U % 20U) - 10) *
                          (mixed % 2U == 0 ? 1.0F : -1.0F));
    }
  }
  return result;
}

TEST(SumInOrder, AddsFromTheFirstTermOnForEveryNumberOfTerms) {
  for (const int terms : {1, 2, 3, 4, 5, 8, 17}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{511}, std::size_t{1029}}) {
      const auto values = rounding_terms(terms, count);
      std::vector<float> out(count);
      sum_in_order(DType::kFloat32, pointers(values), bytes(out), static_cast<std::int64_t>(count));
      for (std::size_t i = 0; i < count; ++i) {
        float expected = values[0][i];
        for (std::size_t t = 1; t < values.size(); ++t) expected += values[t][i];
        ASSERT_EQ(out[i], expected) << terms << " terms, element " << i;
      }
    }
  }
}

TEST(SumInOrder, TheOutputMayBeAnyOfTheTerms) {
  for (std::size_t place = 0; place < 4; ++place) {
    auto values = rounding_terms(4, 700);
    std::vector<float> expected(700);
    sum_in_order(DType::kFloat32, pointers(values), bytes(expected), 700);
    sum_in_order(DType::kFloat32, pointers(values), bytes(values[place]), 700);
    EXPECT_EQ(values[place], expected) << "in place of term " << place;
  }
}

TEST(SumInOrder, RoundsSixteenBitTypesOnce) {
  // 256 + 1 + 1: bf16 has 8 bits, so adding one by one in bf16 would stay at 256.
  const std::vector<std::vector<BFloat16>> values{
      {to_bfloat16(256)}, {to_bfloat16(1)}, {to_bfloat16(1)}};
  std::vector<BFloat16> out(1);
  sum_in_order(DType::kBFloat16, pointers(values), bytes(out), 1);
  EXPECT_EQ(to_float(out[0]), 258.0F);
}

TEST(SumInOrder, NotANumberAndInfinityPassThrough) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<std::vector<float>> values{{std::nanf(""), inf, inf}, {1, 1, -inf}};
  std::vector<float> out(3);
  sum_in_order(DType::kFloat32, pointers(values), bytes(out), 3);
  EXPECT_TRUE(std::isnan(out[0]));
  EXPECT_EQ(out[1], inf);
  EXPECT_TRUE(std::isnan(out[2]));
}

TEST(SumInOrder, IntegersWrapAround) {
  const std::vector<std::vector<std::int32_t>> values{{std::numeric_limits<std::int32_t>::max()},
                                                      {1}};
  std::vector<std::int32_t> out(1);
  sum_in_order(DType::kInt32, pointers(values), bytes(out), 1);
  EXPECT_EQ(out[0], std::numeric_limits<std::int32_t>::min());
}

TEST(SumInOrder, BytesHaveNoSum) {
  const std::vector<std::vector<std::int8_t>> values{{1}, {2}};
  std::vector<std::int8_t> out(1);
  EXPECT_THROW(sum_in_order(DType::kInt8, pointers(values), bytes(out), 1), std::logic_error);
}

TEST(SumAsTree, AddsNeighboursFirst) {
  const auto values = rounding_terms(8, 1029);
  std::vector<float> out(1029);
  sum_as_tree(DType::kFloat32, pointers(values), bytes(out), 1029);
  int differs_from_order = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto v = [&](std::size_t t) { return values[t][i]; };
    ASSERT_EQ(out[i], ((v(0) + v(1)) + (v(2) + v(3))) + ((v(4) + v(5)) + (v(6) + v(7))));
    const float in_order = ((((((v(0) + v(1)) + v(2)) + v(3)) + v(4)) + v(5)) + v(6)) + v(7);
    differs_from_order += out[i] != in_order ? 1 : 0;
  }
  EXPECT_GT(differs_from_order, 0) << "the values cannot tell a tree from a chain";
}

TEST(SumAsTree, OfHalvesIsTheTreeOfTheWhole) {
  // What makes results independent of the world size: trees of 4 and 4 add up to the tree of 8.
  const auto values = rounding_terms(8, 100);
  const auto all = pointers(values);
  std::vector<float> whole(100);
  std::vector<float> left(100);
  std::vector<float> right(100);
  sum_as_tree(DType::kFloat32, all, bytes(whole), 100);
  sum_as_tree(DType::kFloat32, std::span(all).first(4), bytes(left), 100);
  sum_as_tree(DType::kFloat32, std::span(all).last(4), bytes(right), 100);
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(whole[i], left[i] + right[i]);
}

TEST(SumAsTree, NeedsAPowerOfTwo) {
  const auto values = rounding_terms(3, 4);
  std::vector<float> out(4);
  EXPECT_THROW(sum_as_tree(DType::kFloat32, pointers(values), bytes(out), 4), std::logic_error);
}

}  // namespace
}  // namespace zerolab
