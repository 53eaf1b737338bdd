#include "stages/kernels/cpu/tiles.h"

#include <algorithm>

namespace zerolab::cpu {
namespace {

// Eigen packs both operands of every tile anew, which costs about (1/rows + 1/columns) of the
// multiplications: 512 × 384 loses little, 128 × 192 about 8 %.
constexpr std::int64_t kTileRows = 512;
constexpr std::int64_t kTileColumns = 384;
// A result as large as GPT-2's logits has tiles to spare, and gains from wider ones.
constexpr std::int64_t kWideTileColumns = 768;
constexpr std::int64_t kWideFrom = 32 * kTileRows * kWideTileColumns;

/// Near-equal parts of at most `limit`; a multiple of 8, the width of AVX2.
std::int64_t part(std::int64_t size, std::int64_t limit) {
  const std::int64_t parts = std::max<std::int64_t>(1, (size + limit - 1) / limit);
  return std::max<std::int64_t>(8, round_up((size + parts - 1) / parts, 8));
}

/// Halves tiles until there are `wanted` of them, or they have fewer than `least` elements.
void cut_until(TileGrid& grid, std::int64_t wanted, std::int64_t least) {
  while (grid.count() < wanted && grid.tile_rows * grid.tile_columns >= 2 * least) {
    std::int64_t& longer = grid.tile_rows > grid.tile_columns ? grid.tile_rows : grid.tile_columns;
    longer = part(longer, longer / 2);
  }
}

}  // namespace

Tile TileGrid::tile(std::int64_t index) const {
  const std::int64_t row = index / across() * tile_rows;
  const std::int64_t column = index % across() * tile_columns;
  return {row, std::min(tile_rows, m - row), column, std::min(tile_columns, n - column)};
}

TileGrid tile_grid(MatrixShape shape) {
  const std::int64_t columns = shape.m * shape.n >= kWideFrom ? kWideTileColumns : kTileColumns;
  TileGrid grid{shape.m, shape.n, part(shape.m, kTileRows), part(shape.n, columns)};
  // Small results still need something to share out: four tiles if that is cheap, else two.
  cut_until(grid, 4, 128 * 192);
  cut_until(grid, 2, 64 * 64);
  return grid;
}

}  // namespace zerolab::cpu
