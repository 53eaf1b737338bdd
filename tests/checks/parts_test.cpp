// The small parts that checks are made of.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "experiments/checks/check_factory.h"
#include "experiments/checks/element_sample.h"
#include "experiments/checks/expected_sum.h"
#include "experiments/checks/finding_list.h"
#include "experiments/checks/ownership.h"
#include "experiments/checks/pack.h"
#include "experiments/checks/provenance_codes.h"
#include "experiments/checks/ulp.h"
#include "stages/core/convert.h"
#include "tests/checks/rig.h"

namespace zerolab::test {
namespace {

TEST(UlpDistance, CountsFloatsAcrossZero) {
  EXPECT_EQ(ulp_distance(1.0F, std::nextafterf(1.0F, 2.0F)), 1);
  EXPECT_EQ(ulp_distance(-0.0F, 0.0F), 0);
  EXPECT_EQ(ulp_distance(-0x1p-149F, 0x1p-149F), 2);
  EXPECT_EQ(ulp_distance(std::numeric_limits<float>::quiet_NaN(), 1.0F), -1);
  EXPECT_FALSE(same_bits(-0.0F, 0.0F));
}

TEST(Pack, GivesBackWhatWentIn) {
  std::string text;
  const std::vector<float> values = {1.5F, -0.0F};
  pack(text, std::int64_t{7});
  pack_all(text, std::span<const float>(values));
  pack_all(text, std::span<const double>());
  Unpacker unpacker(text);
  EXPECT_EQ(unpacker.take<std::int64_t>(), 7);
  EXPECT_EQ(unpacker.take_all<float>(), values);
  EXPECT_TRUE(unpacker.take_all<double>().empty());
  EXPECT_TRUE(unpacker.empty());
  EXPECT_THROW(unpacker.take<char>(), std::logic_error);
}

TEST(Pack, RefusesAListLongerThanItsText) {
  std::string text;
  pack(text, std::uint64_t{1} << 62U);
  EXPECT_THROW(Unpacker(text).take_all<float>(), std::logic_error);
}

ParameterLayout three_tensors() {
  ParameterLayout layout;
  layout.add_unit("last", {{"small", {5}, Init::kZeros, 0, false}});
  layout.add_unit("first", {{"matrix", {100, 70}, Init::kZeros, 0, true},
                            {"vector", {130}, Init::kZeros, 0, false}});
  return layout;
}

TEST(ElementSample, OfAllElementsCoversEveryTensor) {
  const ElementSample sample = ElementSample::all(three_tensors());
  EXPECT_EQ(sample.count(), 5 + 7000 + 130);
  ASSERT_EQ(sample.runs().size(), 3U);
  EXPECT_EQ(sample.runs()[2].offset, 7005);
}

TEST(ElementSample, DrawnFollowsSeedAndStepAndReachesEveryTensor) {
  const ParameterLayout layout = three_tensors();
  const ElementSample a = ElementSample::drawn(layout, 0.05, 1, 4);
  const ElementSample again = ElementSample::drawn(layout, 0.05, 1, 4);
  const ElementSample later = ElementSample::drawn(layout, 0.05, 1, 5);
  EXPECT_EQ(a.count(), 5 + 6 * 64 + 64);
  bool moved = false;
  for (std::size_t i = 0; i < a.runs().size(); ++i) {
    EXPECT_EQ(a.runs()[i].elements, again.runs()[i].elements);
    moved = moved || !(a.runs()[i].elements == later.runs()[i].elements);
    EXPECT_LE(a.runs()[i].elements.end, layout.tensor(a.runs()[i].tensor).count());
  }
  EXPECT_TRUE(moved);
}

TEST(ElementSample, WithinCutsRunsAtTheEdges) {
  const ElementSample sample = ElementSample::all(three_tensors());
  const auto parts = sample.within(1, {10, 20});
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].elements, (Range{10, 20}));
  EXPECT_EQ(parts[0].offset, 15);
  EXPECT_TRUE(sample.within(0, {5, 9}).empty());
}

SumTerms terms_of(const std::vector<std::vector<float>>& values, int reductions) {
  SumTerms terms(static_cast<std::size_t>(reductions));
  for (std::size_t i = 0; i < values.size(); ++i) {
    terms[i * static_cast<std::size_t>(reductions) / values.size()].emplace_back(values[i]);
  }
  return terms;
}

TEST(ExpectedSum, FollowsTheOrderThatItNames) {
  // 2²⁴ swallows a single 1, not two of them together.
  const std::vector<std::vector<float>> values = {{0x1p24F}, {1}, {1}, {1}};
  EXPECT_EQ(sum_in_rank_order(terms_of(values, 1))[0], 0x1p24F);
  EXPECT_EQ(sum_over_tree(terms_of(values, 1))[0], 0x1p24F + 2);
  EXPECT_EQ(sum_in_rank_order(terms_of(values, 2))[0], 0x1p24F + 2) << "(2²⁴ + 1) + (1 + 1)";
}

TEST(ExpectedSum, OverThreeReductionsFoldsTheSmallestFirst) {
  // Binary counter over 3: (r0 + r1) + r2.
  const std::vector<std::vector<float>> values = {{0x1p24F}, {1}, {1}};
  SumTerms terms = {{values[0]}, {values[1]}, {values[2]}};
  EXPECT_EQ(sum_over_tree(terms)[0], 0x1p24F);
}

TEST(ExpectedSum, BoundGrowsWithTheTermsAndIsNotCrossedByAnyOrder) {
  const std::vector<std::vector<float>> values = {{1.0F / 3}, {1e4F / 3}, {-1e4F / 7}, {5e-3F}};
  const BoundedSum bounded = sum_in_any_order(terms_of(values, 2));
  for (const float sum :
       {sum_in_rank_order(terms_of(values, 1))[0], sum_over_tree(terms_of(values, 2))[0]}) {
    EXPECT_LE(std::abs(sum - bounded.sum[0]), bounded.bound[0]);
  }
  EXPECT_GT(std::abs(0.999F * static_cast<float>(bounded.sum[0]) - bounded.sum[0]),
            bounded.bound[0]);
}

// 257 is no bf16 value: it rounds to 256, 258 is one.
TEST(ExpectedSum, RoundsTermsSumsAndAccumulatorsWhereTheyAreRounded) {
  const SumTypes travelling{DType::kBFloat16, DType::kFloat32};
  const SumTypes accumulators{DType::kFloat32, DType::kBFloat16};
  const std::vector<std::vector<float>> terms = {{257}, {1}};
  EXPECT_EQ(sum_in_rank_order(terms_of(terms, 1), travelling)[0], 256) << "the first term";
  const std::vector<std::vector<float>> exact = {{256}, {1}, {1}};
  EXPECT_EQ(sum_in_rank_order(terms_of(exact, 1), travelling)[0], 258) << "added in fp32";
  EXPECT_EQ(sum_in_rank_order(terms_of(exact, 3), travelling)[0], 258) << "fp32 accumulators";
  EXPECT_EQ(sum_in_rank_order(terms_of(exact, 3), accumulators)[0], 256);
  EXPECT_EQ(sum_over_tree(terms_of(exact, 3), accumulators)[0], 256);
}

TEST(ExpectedSum, BoundOf16BitsHoldsForARoundingAtEachAddition) {
  const std::vector<std::vector<float>> values = {{1.0F / 3}, {4.0F / 3}, {-4.0F / 7}, {5e-3F}};
  const SumTypes types{DType::kBFloat16, DType::kBFloat16};
  const BoundedSum bounded = sum_in_any_order(terms_of(values, 4), types);
  EXPECT_LE(std::abs(sum_in_rank_order(terms_of(values, 4), types)[0] - bounded.sum[0]),
            bounded.bound[0]);
  EXPECT_LT(bounded.bound[0], 0.2);
}

// 2·64 roundings of 2⁻⁸ reach one half, 2·128 reach one: a negative bound would call every sum
// wrong.
TEST(ExpectedSum, SoManyRoundingsThatTheyHaveNoBoundFindNothing) {
  const SumTypes types{DType::kBFloat16, DType::kFloat32};
  EXPECT_NEAR(relative_bound(64, types), 1, 1e-4);
  EXPECT_TRUE(std::isinf(relative_bound(128, types)));
  const std::vector<std::vector<float>> values(128, {0.5F});
  EXPECT_TRUE(std::isinf(sum_in_any_order(terms_of(values, 1), types).bound[0]));
}

TEST(Ownership, WantsOneOwnerOrACopyOnEveryRank) {
  const ParameterLayout layout = three_tensors();
  const std::vector<OwnedRun> small_and_vector = {{0, false, {0, 5}}, {2, false, {0, 130}}};
  auto by_rank = std::vector<std::vector<OwnedRun>>{small_and_vector, {{1, false, {0, 7000}}}};
  EXPECT_EQ(text_of(check_ownership(layout, Category::kGradients, by_rank, "INV", "gradients")),
            "");

  by_rank[1] = {{1, false, {0, 6000}}, {1, false, {6100, 7000}}};
  const auto missing = check_ownership(layout, Category::kGradients, by_rank, "INV", "gradients");
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0].element, 6000);
  EXPECT_NE(missing[0].message.find("no rank holds elements 6000–6099 of matrix"),
            std::string::npos)
      << missing[0].message;

  by_rank[1] = {{1, false, {0, 7000}}, {2, false, {100, 130}}};
  const auto twice = check_ownership(layout, Category::kGradients, by_rank, "INV", "gradients");
  ASSERT_EQ(twice.size(), 1U);
  EXPECT_NE(twice[0].message.find("ranks 0 and 1 hold elements 100–129 of vector"),
            std::string::npos);

  by_rank[0].push_back({1, true, {0, 7000}});
  by_rank[1] = {{1, true, {0, 6999}}};
  EXPECT_EQ(check_ownership(layout, Category::kGradients, by_rank, "INV", "gradients").size(), 1U)
      << "a replica misses its last element";
}

TEST(ContributorCodes, DecodeEachDigitFromTheSum) {
  const auto digits =
      contributor_digits(2 * contributor_code(0) + contributor_code(5) + 3 * contributor_code(11));
  ASSERT_TRUE(digits);
  EXPECT_EQ((*digits)[0], 2);
  EXPECT_EQ((*digits)[1], 0);
  EXPECT_EQ((*digits)[5], 1);
  EXPECT_EQ((*digits)[11], 3);
  EXPECT_FALSE(contributor_digits(0.5F));
  EXPECT_FALSE(contributor_digits(-1.0F));
  EXPECT_FALSE(contributor_digits(std::numeric_limits<float>::quiet_NaN()));
}

TEST(PlacementCodes, LeadBackToTheNearestElement) {
  constexpr std::int64_t kContributors = 6;
  const auto sums = [&](std::int64_t number) {
    return std::pair(kContributors * placement_code(number, kPlacementModuli[0]),
                     kContributors * placement_code(number, kPlacementModuli[1]));
  };
  for (const std::int64_t number : {0L, 113L, 14350L, 14351L, 90000L}) {
    const auto [a, b] = sums(number);
    EXPECT_EQ(placed_number(a, b, kContributors, number + 500, 100000), number);
  }
  EXPECT_FALSE(placed_number(0, 0, kContributors, 0, 100)) << "0 is no code";
}

TEST(ParameterCodes, TellElementAndStep) {
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kFloat16}) {
    const ParameterCodes codes(dtype);
    EXPECT_EQ(codes.explain(codes.code(123456, 7), 123456, 9), (Displacement{0, -2}));
    EXPECT_EQ(codes.explain(codes.code(123460, 9), 123456, 9), (Displacement{4, 0}));
    EXPECT_FALSE(codes.explain(std::numeric_limits<float>::quiet_NaN(), 123456, 7));
  }
}

TEST(ParameterCodes, OfSixteenBitsAreValuesOfTheType) {
  const ParameterCodes codes(DType::kBFloat16);
  for (std::int64_t number = 0; number < 1000; ++number) {
    const float code = codes.code(number, number / 7);
    EXPECT_EQ(to_float(to_bfloat16(code)), code);
  }
}

TEST(CheckFactory, RefusesUnknownNamesWithTheNearest) {
  RunConfig config = micro_config(1);
  config.checks = {"REF", "NOMR"};
  try {
    train(config, "ddp");
    FAIL() << "accepted";
  } catch (const BadInput& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'NORM'"), std::string::npos)
        << error.what();
  }
}

TEST(FindingList, KeepsTheFirstAndCountsTheRest) {
  FindingList list;
  for (int i = 0; i < 20; ++i) {
    Finding finding;
    finding.step = i;
    finding.message = "wrong";
    list.add(finding);
  }
  const auto kept = list.take();
  ASSERT_EQ(kept.size(), FindingList::kLimit);
  EXPECT_EQ(kept.back().message, "wrong (and 4 more like it)");
  EXPECT_TRUE(list.take().empty());
}

}  // namespace
}  // namespace zerolab::test
