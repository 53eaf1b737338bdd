// How products are cut into tiles.
#include "stages/kernels/cpu/tiles.h"

#include <gtest/gtest.h>

namespace zerolab::cpu {
namespace {

TEST(Tiles, CoverEveryElementOnce) {
  for (const std::int64_t m : {1, 7, 129, 1025}) {
    for (const std::int64_t n : {1, 9, 385, 1537}) {
      const TileGrid grid = tile_grid({m, 3, n});
      std::vector<int> covered(static_cast<std::size_t>(m * n), 0);
      for (std::int64_t i = 0; i < grid.count(); ++i) {
        const Tile t = grid.tile(i);
        EXPECT_GT(t.rows * t.columns, 0) << m << " x " << n << " tile " << i;
        for (std::int64_t r = t.row; r < t.row + t.rows; ++r) {
          for (std::int64_t c = t.column; c < t.column + t.columns; ++c) {
            ++covered[static_cast<std::size_t>(r * n + c)];
          }
        }
      }
      EXPECT_EQ(covered, std::vector<int>(covered.size(), 1)) << m << " x " << n;
    }
  }
}

TEST(Tiles, EvenSmallLayersGiveTwoThreadsSomethingToDo) {
  // The weight gradients of gpt-tiny (C = 128): the smallest products that matter.
  for (const MatrixShape s : {MatrixShape{128, 1024, 128}, MatrixShape{128, 1024, 384},
                              MatrixShape{1024, 128, 128}, MatrixShape{512, 1024, 128}}) {
    EXPECT_GE(tile_grid(s).count(), 2);
    EXPECT_EQ(tile_grid(s).count() % 2, 0);
  }
}

TEST(Tiles, AProductWithoutElementsHasNoTiles) {
  EXPECT_EQ(tile_grid({0, 5, 3}).count(), 0);
  EXPECT_EQ(tile_grid({5, 3, 0}).count(), 0);
}

}  // namespace
}  // namespace zerolab::cpu
