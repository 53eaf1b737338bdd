/// \file
/// How a matrix product is cut into tiles. The shape of a tile follows from the sizes alone, so the
/// number of threads cannot change a bit.
#pragma once

#include <cstdint>

#include "stages/kernels/cpu/gemm.h"
#include "stages/kernels/cpu/thread_team.h"

namespace zerolab::cpu {

/// Rows [row, row + rows) and columns [column, column + columns) of the result.
struct Tile {
  std::int64_t row = 0, rows = 0, column = 0, columns = 0;
};

struct TileGrid {
  std::int64_t m = 0, n = 0;                     ///< the result
  std::int64_t tile_rows = 1, tile_columns = 1;  ///< of a full tile

  std::int64_t across() const { return (n + tile_columns - 1) / tile_columns; }
  std::int64_t down() const { return (m + tile_rows - 1) / tile_rows; }
  std::int64_t count() const { return across() * down(); }
  Tile tile(std::int64_t index) const;
};

/// The grid for an (m,n) result.
TileGrid tile_grid(MatrixShape shape);

/// Calls epilogue(Tile) for every tile of C(m,n) += A·B, right after the tile was computed and
/// while it is in cache; prologue(Tile) right before, to set C's starting value.
template <class Prologue, class Epilogue>
void tiled_product(ThreadTeam& team, Matrix a, Matrix b, float* c, MatrixShape shape,
                   const Prologue& prologue, const Epilogue& epilogue) {
  const TileGrid grid = tile_grid(shape);
  team.for_each(grid.count(), [&](std::int64_t i) {
    const Tile t = grid.tile(i);
    prologue(t);
    gemm(a.at(t.row, 0), b.at(0, t.column), c + t.row * shape.n + t.column, shape.n,
         {t.rows, shape.k, t.columns});
    epilogue(t);
  });
}

}  // namespace zerolab::cpu
