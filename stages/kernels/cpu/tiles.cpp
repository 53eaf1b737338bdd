#include "stages/kernels/cpu/tiles.h"

#include <algorithm>

namespace zerolab::cpu {
namespace {

// Eigen packs both operands of every tile anew, which costs about (1/rows + 1/columns) of the
// multiplications, so tiles are large; but a product needs a few tiles per thread to share out.
constexpr std::int64_t kTileRows = 256;
constexpr std::int64_t kTileColumns = 512;

// Near-equal parts of at most `limit`, a multiple of 24: the rows of Eigen's inner kernel on AVX2.
std::int64_t part(std::int64_t size, std::int64_t limit) {
  if (size <= 0) return 1;
  const std::int64_t parts = (size + limit - 1) / limit;
  return round_up((size + parts - 1) / parts, 24);
}

}  // namespace

Tile TileGrid::tile(std::int64_t index) const {
  const std::int64_t row = index / across() * tile_rows;
  const std::int64_t column = index % across() * tile_columns;
  return {row, std::min(tile_rows, m - row), column, std::min(tile_columns, n - column)};
}

TileGrid tile_grid(MatrixShape shape) {
  return {shape.m, shape.n, part(shape.m, kTileRows), part(shape.n, kTileColumns)};
}

}  // namespace zerolab::cpu
