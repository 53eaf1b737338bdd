// The layout and the two cuts: buckets that are N equal slices each, and units that are.
#include "stages/model/partition.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <vector>

#include "tests/stages/small_layout.h"

namespace zerolab {
namespace {

using test::small_layout;

TEST(Layout, EveryTensorStartsOnAMultipleOf32) {
  const ParameterLayout layout = small_layout();

  for (const UnitLayout& unit : layout.units()) {
    for (const TensorPlace& place : unit.places) EXPECT_EQ(place.offset % 32, 0) << unit.name;
    EXPECT_EQ(unit.size % 32, 0) << unit.name;
  }
}

TEST(Layout, PlacesTheTensorsOfAUnitOneBehindTheOther) {
  const ParameterLayout layout = small_layout();

  EXPECT_EQ(layout.place_of(layout.tensor_named("head.bias")).offset, 0);
  EXPECT_EQ(layout.place_of(layout.tensor_named("head.weight")).offset, 32);
  EXPECT_EQ(layout.place_of(layout.tensor_named("base.scale")).offset, 64);
  EXPECT_EQ(layout.unit(0).size, 64);
  EXPECT_EQ(layout.unit(1).size, 64);
  EXPECT_EQ(layout.unit(2).size, 96);
}

TEST(Layout, CountsParametersWithoutGaps) { EXPECT_EQ(small_layout().parameter_count(), 100); }

TEST(Layout, NamesTheNearestTensorWhenThereIsNone) {
  const ParameterLayout layout = small_layout();

  try {
    layout.tensor_named("midle.weight");
    FAIL() << "an unknown name was found";
  } catch (const BadInput& error) {
    EXPECT_NE(std::string(error.what()).find("'middle.weight'"), std::string::npos) << error.what();
  }
}

// Three ranks: 32·N = 96. Buckets of 100 elements become 192; 224 elements become 288.
TEST(PartitionByBucket, MatchesTheExampleWorkedOutByHand) {
  const ParameterLayout layout = small_layout();

  const Partition cut = Partition::by_bucket(layout, 3, 100);

  EXPECT_EQ(cut.flat_size(), 288);
  EXPECT_EQ(cut.owned_size(), 96);
  EXPECT_EQ(cut.pieces(), (std::vector<Range>{{0, 192}, {192, 288}}));
  EXPECT_EQ(cut.largest_piece(), 192);
  EXPECT_EQ(cut.unit(0), (Range{0, 64}));
  EXPECT_EQ(cut.unit(1), (Range{64, 128}));
  EXPECT_EQ(cut.unit(2), (Range{128, 224}));
  // Bucket 0 is slices of 64, bucket 1 of 32: rank 1 owns [64, 128) and [224, 256).
  EXPECT_EQ(cut.slice(0, 1), (Range{64, 128}));
  EXPECT_EQ(cut.slice(1, 1), (Range{224, 256}));
  EXPECT_EQ(cut.in_shard(0), (Range{0, 64}));
  EXPECT_EQ(cut.in_shard(1), (Range{64, 96}));
  EXPECT_EQ(cut.pieces_of(cut.unit(1)), (std::vector<int>{0}));
  EXPECT_EQ(cut.pieces_of(cut.unit(2)), (std::vector<int>{0, 1}));
}

// Three ranks: the units of 64, 64 and 96 elements become 96 each.
TEST(PartitionByUnit, MatchesTheExampleWorkedOutByHand) {
  const ParameterLayout layout = small_layout();

  const Partition cut = Partition::by_unit(layout, 3);

  EXPECT_EQ(cut.flat_size(), 288);
  EXPECT_EQ(cut.pieces(), (std::vector<Range>{{0, 96}, {96, 192}, {192, 288}}));
  EXPECT_EQ(cut.unit(1), (Range{96, 160}));
  EXPECT_EQ(cut.slice(2, 2), (Range{256, 288}));
  EXPECT_EQ(cut.in_shard(2), (Range{64, 96}));
}

TEST(Partition, ListsTheRealElementsOfARangeTensorByTensor) {
  const ParameterLayout layout = small_layout();
  const Partition cut = Partition::by_bucket(layout, 3, 100);

  // [48, 70): the last 5 of head.weight (it occupies [32, 53)), then the first 6 of middle.weight.
  const std::vector<Segment> segments = cut.segments({48, 70});

  ASSERT_EQ(segments.size(), 2U);
  EXPECT_EQ(segments[0].tensor, layout.tensor_named("head.weight"));
  EXPECT_EQ(segments[0].tensor_begin, 16);
  EXPECT_EQ(segments[0].flat_begin, 0);
  EXPECT_EQ(segments[0].count, 5);
  EXPECT_EQ(segments[0].group, kDecayedGroup);
  EXPECT_EQ(segments[1].tensor, layout.tensor_named("middle.weight"));
  EXPECT_EQ(segments[1].tensor_begin, 0);
  EXPECT_EQ(segments[1].flat_begin, 16);
  EXPECT_EQ(segments[1].count, 6);
  EXPECT_EQ(segments[1].group, kPlainGroup);
}

TEST(PartitionByBucket, RejectsABucketThatHoldsNothing) {
  const ParameterLayout layout = small_layout();

  EXPECT_THROW(Partition::by_bucket(layout, 2, 0), BadInput);
  EXPECT_THROW(Partition::by_bucket(layout, 2, -1), BadInput);
}

TEST(PartitionByBucket, MakesOneBucketOfAllWhenItIsLargerThanTheModel) {
  const ParameterLayout layout = small_layout();

  const Partition cut = Partition::by_bucket(layout, 2, 1'000'000);

  EXPECT_EQ(cut.pieces(), (std::vector<Range>{{0, 256}}));
}

/// All tests hold for the cut by unit and for buckets of any size.
class EveryCut : public testing::TestWithParam<int> {
 protected:
  void for_every_cut(const std::function<void(const Partition&)>& expectations) {
    {
      SCOPED_TRACE("by unit");
      expectations(Partition::by_unit(layout_, ranks_));
    }
    // 1: as small as can be; 64 and 96 divide the model, 100 does not; 1000: all in one.
    for (const std::int64_t bucket : {1, 64, 96, 100, 1000}) {
      SCOPED_TRACE(fmt::format("buckets of {}", bucket));
      expectations(Partition::by_bucket(layout_, ranks_, bucket));
    }
  }

  const ParameterLayout layout_ = small_layout();
  const int ranks_ = GetParam();
};

int pieces_in(const Partition& cut) { return static_cast<int>(cut.pieces().size()); }

TEST_P(EveryCut, TilesTheFlatSpaceWithPiecesThatDivideEvenly) {
  for_every_cut([&](const Partition& cut) {
    std::int64_t end = 0;
    for (const Range& piece : cut.pieces()) {
      EXPECT_EQ(piece.begin, end);
      EXPECT_GT(piece.size(), 0);
      EXPECT_EQ(piece.size() % (32 * ranks_), 0);
      end = piece.end;
    }
    EXPECT_EQ(end, cut.flat_size());
  });
}

TEST_P(EveryCut, GivesEveryElementToExactlyOneRank) {
  for_every_cut([&](const Partition& cut) {
    std::vector<int> owners(static_cast<std::size_t>(cut.flat_size()), 0);

    for (int rank = 0; rank < ranks_; ++rank) {
      for (int piece = 0; piece < pieces_in(cut); ++piece) {
        const Range slice = cut.slice(piece, rank);
        EXPECT_EQ(slice.size() * ranks_, cut.piece(piece).size());
        for (std::int64_t i = slice.begin; i < slice.end; ++i)
          ++owners[static_cast<std::size_t>(i)];
      }
    }

    EXPECT_EQ(owners, std::vector<int>(owners.size(), 1));
  });
}

TEST_P(EveryCut, PacksARanksSlicesBackToBack) {
  for_every_cut([&](const Partition& cut) {
    std::int64_t end = 0;
    for (int piece = 0; piece < pieces_in(cut); ++piece) {
      EXPECT_EQ(cut.in_shard(piece).begin, end);
      EXPECT_EQ(cut.in_shard(piece).size(), cut.slice(piece, 0).size());
      end = cut.in_shard(piece).end;
    }
    EXPECT_EQ(end, cut.owned_size());
  });
}

TEST_P(EveryCut, KeepsUnitsInOrderAndApart) {
  for_every_cut([&](const Partition& cut) {
    std::int64_t end = 0;
    for (UnitId unit = 0; unit < static_cast<UnitId>(cut.unit_count()); ++unit) {
      EXPECT_GE(cut.unit(unit).begin, end);
      EXPECT_EQ(cut.unit(unit).size(), layout_.unit(unit).size);
      end = cut.unit(unit).end;
    }
    EXPECT_LE(end, cut.flat_size());
  });
}

// Elements are told apart by (tensor, index); each must come once, at its place in the flat space.
TEST_P(EveryCut, CoversEveryRealElementExactlyOnceWithSegments) {
  for_every_cut([&](const Partition& cut) {
    std::map<std::pair<int, std::int64_t>, std::int64_t> flat_of;

    for (int rank = 0; rank < ranks_; ++rank) {
      for (int piece = 0; piece < pieces_in(cut); ++piece) {
        const Range slice = cut.slice(piece, rank);
        for (const Segment& segment : cut.segments(slice)) {
          EXPECT_GE(segment.flat_begin, 0);
          EXPECT_LE(segment.flat_begin + segment.count, slice.size());
          for (std::int64_t i = 0; i < segment.count; ++i) {
            const auto [place, fresh] =
                flat_of.emplace(std::pair{segment.tensor, segment.tensor_begin + i},
                                slice.begin + segment.flat_begin + i);
            EXPECT_TRUE(fresh) << layout_.tensor(segment.tensor).name << " " << place->first.second;
          }
        }
      }
    }

    EXPECT_EQ(static_cast<std::int64_t>(flat_of.size()), layout_.parameter_count());
    for (const auto& [element, flat] : flat_of) {
      const auto [tensor, index] = element;
      EXPECT_LT(index, layout_.tensor(tensor).count());
      EXPECT_EQ(flat,
                cut.unit(layout_.unit_of(tensor)).begin + layout_.place_of(tensor).offset + index);
    }
  });
}

TEST_P(EveryCut, FindsThePiecesOfEveryUnit) {
  for_every_cut([&](const Partition& cut) {
    for (UnitId unit = 0; unit < static_cast<UnitId>(cut.unit_count()); ++unit) {
      std::int64_t covered = 0;
      for (const int piece : cut.pieces_of(cut.unit(unit))) {
        covered += intersect(cut.piece(piece), cut.unit(unit)).size();
      }
      EXPECT_EQ(covered, layout_.unit(unit).size) << layout_.unit(unit).name;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, EveryCut, testing::Values(1, 2, 3, 4, 5, 8));

}  // namespace
}  // namespace zerolab
