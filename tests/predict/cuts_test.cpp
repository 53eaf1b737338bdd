// Lengths of buckets and units by the rule, held against the cuts that the stages use.
#include <gtest/gtest.h>

#include "stages/model/partition.h"
#include "tests/predict/small_setting.h"

namespace zerolab {
namespace {

using Lengths = std::vector<std::int64_t>;

Lengths lengths_of(const Partition& partition) {
  Lengths lengths;
  for (const Range& piece : partition.pieces()) lengths.push_back(piece.size());
  return lengths;
}

// 224 elements on 2 ranks: rounded up to 64s, 256 in all and 128 in a bucket of 100.
TEST(BucketLengths, AreRoundedUpSoThatEveryRankGetsAnAlignedSlice) {
  EXPECT_EQ(bucket_lengths(test::small_setting(2, 0)), (Lengths{128, 128}));
}

// 3 ranks: rounded up to 96s, 288 in all and 192 in a bucket of 100; the last one is shorter.
TEST(BucketLengths, LeaveAShorterBucketAtTheEnd) {
  EXPECT_EQ(bucket_lengths(test::small_setting(3, 0)), (Lengths{192, 96}));
}

TEST(BucketLengths, OfAModelSmallerThanTheBucketAreOne) {
  Setting setting = test::small_setting(2, 0);
  setting.bucket_elements = 1'000'000;
  EXPECT_EQ(bucket_lengths(setting), (Lengths{256}));
}

TEST(BucketLengths, RejectABucketOfNothing) {
  Setting setting = test::small_setting(2, 0);
  setting.bucket_elements = 0;
  EXPECT_THROW(bucket_lengths(setting), BadInput);
}

// 2 ranks: 64 and 64 stay, 96 becomes 128. 3 ranks: all become 96.
TEST(UnitLengths, ArePaddedOneByOne) {
  EXPECT_EQ(unit_lengths(test::small_setting(2, 0)), (Lengths{64, 64, 128}));
  EXPECT_EQ(unit_lengths(test::small_setting(3, 0)), (Lengths{96, 96, 96}));
}

TEST(Lengths, AreThoseOfTheStagesCuts) {
  for (const char* model : {"gpt-micro", "gpt-tiny", "tied-mlp"}) {
    for (const int ranks : {1, 2, 3, 4, 5, 8, 64}) {
      for (const std::int64_t bucket : {1, 100, 4096, 10'000, 1 << 18}) {
        SCOPED_TRACE(fmt::format("{} on {} ranks, buckets of {}", model, ranks, bucket));
        Setting setting = test::small_setting(ranks, 0);
        setting.layout = layout_of(parse_model(model));
        setting.bucket_elements = bucket;

        EXPECT_EQ(bucket_lengths(setting),
                  lengths_of(Partition::by_bucket(setting.layout, ranks, bucket)));
        EXPECT_EQ(unit_lengths(setting), lengths_of(Partition::by_unit(setting.layout, ranks)));
      }
    }
  }
}

TEST(Accumulators, ExistOnlyWhereMicroBatchesAreReducedOneByOne) {
  RunConfig config;
  EXPECT_EQ(accumulator_count(config), 0);  // K = 1
  config.accumulate = 3;
  EXPECT_EQ(accumulator_count(config), 1);
  config.accumulation_order = AccumulationOrder::kLocal;
  EXPECT_EQ(accumulator_count(config), 0);
}

// ⌊log₂K⌋ + 1
TEST(Accumulators, OfATreeAreOneALevel) {
  RunConfig config;
  config.reduction = Reduction::kTree;
  for (const auto& [k, levels] : {std::pair{1, 0}, {2, 2}, {3, 2}, {4, 3}, {7, 3}, {8, 4}}) {
    config.accumulate = k;
    EXPECT_EQ(accumulator_count(config), levels) << k << " micro-batches";
  }
}

}  // namespace
}  // namespace zerolab
