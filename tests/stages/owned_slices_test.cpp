// Which views of a buffer a rank owns, and which real elements lie in them.
#include "stages/parallel/owned_slices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/stages/small_layout.h"

namespace zerolab {
namespace {

View view_of(std::vector<float>& values) {
  return {reinterpret_cast<std::byte*>(values.data()), DType::kFloat32,
          static_cast<std::int64_t>(values.size())};
}

// The real elements of the slices, as (tensor, index) pairs.
std::vector<std::pair<int, std::int64_t>> elements_of(const std::vector<OwnedSlice>& slices) {
  std::vector<std::pair<int, std::int64_t>> elements;
  for (const OwnedSlice& slice : slices) {
    for (const Segment& s : slice.segments) {
      for (std::int64_t i = 0; i < s.count; ++i) elements.push_back({s.tensor, s.tensor_begin + i});
    }
  }
  return elements;
}

class OwnedSlices : public testing::TestWithParam<int> {
 protected:
  const int ranks_ = GetParam();
  const ParameterLayout layout_ = test::small_layout();
  const Partition partition_ = Partition::by_bucket(layout_, ranks_, 100);
  // Every element holds its flat index, so that a view shows where it points.
  std::vector<float> full_ = [this] {
    std::vector<float> values(static_cast<std::size_t>(partition_.flat_size()));
    std::iota(values.begin(), values.end(), 0.0F);
    return values;
  }();
};

TEST_P(OwnedSlices, InTheFullBufferAreTheRanksSlicesOfEveryPiece) {
  for (int rank = 0; rank < ranks_; ++rank) {
    const std::vector<OwnedSlice> slices = slices_in_full(partition_, rank, view_of(full_));

    ASSERT_EQ(slices.size(), partition_.pieces().size());
    for (std::size_t i = 0; i < slices.size(); ++i) {
      const Range flat = partition_.slice(static_cast<int>(i), rank);
      EXPECT_EQ(slices[i].values.count, flat.size());
      EXPECT_EQ(slices[i].values.as<float>()[0], static_cast<float>(flat.begin));
      EXPECT_FALSE(slices[i].replicated);
    }
  }
}

TEST_P(OwnedSlices, InAShardLieBackToBackInTheOrderOfThePieces) {
  std::vector<float> shard(static_cast<std::size_t>(partition_.owned_size()));
  std::iota(shard.begin(), shard.end(), 0.0F);

  const std::vector<OwnedSlice> slices = slices_in_shard(partition_, ranks_ - 1, view_of(shard));

  float begin = 0;
  for (const OwnedSlice& slice : slices) {
    EXPECT_EQ(slice.values.as<float>()[0], begin);
    EXPECT_FALSE(slice.replicated);
    begin += static_cast<float>(slice.values.count);
  }
  EXPECT_EQ(begin, static_cast<float>(partition_.owned_size()));
}

TEST_P(OwnedSlices, HoldTheSameElementsInTheFullBufferAndInTheShard) {
  std::vector<float> shard(static_cast<std::size_t>(partition_.owned_size()));

  for (int rank = 0; rank < ranks_; ++rank) {
    EXPECT_EQ(elements_of(slices_in_full(partition_, rank, view_of(full_))),
              elements_of(slices_in_shard(partition_, rank, view_of(shard))));
  }
}

TEST_P(OwnedSlices, SegmentsCountFromTheSlicesOwnBegin) {
  for (int rank = 0; rank < ranks_; ++rank) {
    for (const OwnedSlice& slice : slices_in_full(partition_, rank, view_of(full_))) {
      for (const Segment& s : slice.segments) {
        const std::int64_t flat = partition_.unit(layout_.unit_of(s.tensor)).begin +
                                  layout_.place_of(s.tensor).offset + s.tensor_begin;
        EXPECT_EQ(slice.values.as<float>()[s.flat_begin], static_cast<float>(flat));
      }
    }
  }
}

TEST_P(OwnedSlices, OfAllRanksTogetherHoldEveryParameterOnce) {
  std::vector<std::pair<int, std::int64_t>> elements;
  for (int rank = 0; rank < ranks_; ++rank) {
    const auto of_rank = elements_of(slices_in_full(partition_, rank, view_of(full_)));
    elements.insert(elements.end(), of_rank.begin(), of_rank.end());
  }

  std::sort(elements.begin(), elements.end());
  EXPECT_EQ(std::adjacent_find(elements.begin(), elements.end()), elements.end());
  EXPECT_EQ(static_cast<std::int64_t>(elements.size()), layout_.parameter_count());
}

TEST_P(OwnedSlices, ThatAreReplicatedHoldEveryParameterOnEachRank) {
  const std::vector<OwnedSlice> slices = replicated_slices(partition_, view_of(full_));

  EXPECT_EQ(static_cast<std::int64_t>(elements_of(slices).size()), layout_.parameter_count());
  for (std::size_t i = 0; i < slices.size(); ++i) {
    EXPECT_TRUE(slices[i].replicated);
    EXPECT_EQ(slices[i].values.count, partition_.piece(static_cast<int>(i)).size());
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, OwnedSlices, testing::Values(1, 2, 3, 4, 5, 8));

}  // namespace
}  // namespace zerolab
