#include "stages/kernels/cpu/linear.h"

#include <algorithm>

#include "stages/kernels/cpu/column_sums.h"
#include "stages/kernels/cpu/gelu.h"
#include "stages/kernels/cpu/tiles.h"

namespace zerolab::cpu {
namespace {

const auto kNothing = [](const Tile&) {};

/// Calls f(offset of the row's first element, columns) for each row of the tile.
template <class F>
void for_rows(const Tile& t, std::int64_t stride, const F& f) {
  for (std::int64_t r = t.row; r < t.row + t.rows; ++r) f(r * stride + t.column);
}

/// Sets a tile to residual + b, where each may be null.
auto start_from(const float* b, const float* residual, float* y, std::int64_t n) {
  return [=](const Tile& t) {
    for_rows(t, n, [&](std::int64_t at) {
      float* __restrict out = y + at;
      const float* bias = b == nullptr ? nullptr : b + t.column;
      if (residual != nullptr && bias != nullptr) {
        for (std::int64_t j = 0; j < t.columns; ++j) out[j] = residual[at + j] + bias[j];
      } else if (residual != nullptr || bias != nullptr) {
        std::copy_n(residual != nullptr ? residual + at : bias, t.columns, out);
      } else {
        std::fill_n(out, t.columns, 0.0F);
      }
    });
  };
}

}  // namespace

void linear(ThreadTeam& team, const float* x, const float* w, const float* b, const float* residual,
            float* y, MatrixShape s) {
  tiled_product(team, {x, s.k}, {w, s.n}, y, s, start_from(b, residual, y, s.n), kNothing);
}

void linear_gelu(ThreadTeam& team, const float* x, const float* w, const float* b, float* pre,
                 float* y, MatrixShape s) {
  const auto activate = [=](const Tile& t) {
    for_rows(t, s.n, [&](std::int64_t at) { gelu(pre + at, y + at, t.columns); });
  };
  tiled_product(team, {x, s.k}, {w, s.n}, pre, s, start_from(b, nullptr, pre, s.n), activate);
}

void linear_backward_input(ThreadTeam& team, const float* dy, const float* w, const float* pre,
                           float* dx, MatrixShape s) {
  const auto through_gelu = [=](const Tile& t) {
    if (pre == nullptr) return;
    for_rows(t, s.k, [&](std::int64_t at) { gelu_backward(pre + at, dx + at, t.columns); });
  };
  tiled_product(team, {dy, s.n}, {w, s.n, true}, dx, {s.m, s.n, s.k},
                start_from(nullptr, nullptr, dx, s.k), through_gelu);
}

void linear_backward_weight(ThreadTeam& team, const float* x, const float* dy, float* dw, float* db,
                            MatrixShape s) {
  if (dw != nullptr) {
    tiled_product(team, {x, s.k, true}, {dy, s.n}, dw, {s.k, s.m, s.n}, kNothing, kNothing);
  }
  if (db != nullptr) add_column_sums(team, dy, db, s.m, s.n);
}

void head(ThreadTeam& team, const float* x, const float* w, float* y, MatrixShape s) {
  tiled_product(team, {x, s.k}, {w, s.k, true}, y, s, start_from(nullptr, nullptr, y, s.n),
                kNothing);
}

void head_backward_input(ThreadTeam& team, const float* dy, const float* w, float* dx,
                         MatrixShape s) {
  tiled_product(team, {dy, s.n}, {w, s.k}, dx, {s.m, s.n, s.k},
                start_from(nullptr, nullptr, dx, s.k), kNothing);
}

void head_backward_weight(ThreadTeam& team, const float* dy, const float* x, float* dw,
                          MatrixShape s) {
  tiled_product(team, {dy, s.n, true}, {x, s.k}, dw, {s.n, s.m, s.k}, kNothing, kNothing);
}

}  // namespace zerolab::cpu
