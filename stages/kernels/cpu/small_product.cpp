#include "stages/kernels/cpu/small_product.h"

#include <algorithm>
#include <array>

#include "stages/kernels/cpu/simd.h"

namespace zerolab::cpu {
namespace {

// 6 × 16 results in 12 of AVX2's 16 registers: enough independent additions to hide their latency,
// and 8 loads for 12 multiply-adds.
constexpr int kRows = 6;
constexpr std::int64_t kColumns = 2 * kLanes;

struct Strip {
  const float* b;  // (k, 16)
  std::int64_t b_stride;
  float* c;  // (rows, 16)
  std::int64_t c_stride;
  std::int64_t k;
  bool accumulate;
};

/// `rows` × 16 elements; element (r, i) of A is a[r·row_step + i·step].
template <int rows>
void block(const float* a, std::int64_t row_step, std::int64_t step, const Strip& s) {
  Float8 left[rows], right[rows];
  for (int r = 0; r < rows; ++r) left[r] = right[r] = splat8(0.0F);
  const float* b = s.b;
  for (std::int64_t i = 0; i < s.k; ++i) {
    const Float8 b_left = load8(b), b_right = load8(b + kLanes);
    for (int r = 0; r < rows; ++r) {
      const Float8 x = splat8(a[r * row_step]);
      left[r] = fma8(x, b_left, left[r]);
      right[r] = fma8(x, b_right, right[r]);
    }
    a += step;
    b += s.b_stride;
  }
  for (int r = 0; r < rows; ++r) {
    float* c = s.c + r * s.c_stride;
    if (s.accumulate) {
      left[r] += load8(c);
      right[r] += load8(c + kLanes);
    }
    store8(c, left[r]);
    store8(c + kLanes, right[r]);
  }
}

void all_rows(Matrix a, std::int64_t m, Strip s) {
  const std::int64_t row_step = a.transposed ? 1 : a.stride;
  const std::int64_t step = a.transposed ? a.stride : 1;
  std::int64_t r = 0;
  for (; r + kRows <= m; r += kRows) {
    block<kRows>(a.data + r * row_step, row_step, step, s);
    s.c += kRows * s.c_stride;
  }
  const float* rest = a.data + r * row_step;
  switch (m - r) {
    case 1:
      return block<1>(rest, row_step, step, s);
    case 2:
      return block<2>(rest, row_step, step, s);
    case 3:
      return block<3>(rest, row_step, step, s);
    case 4:
      return block<4>(rest, row_step, step, s);
    case 5:
      return block<5>(rest, row_step, step, s);
    default:
      return;
  }
}

/// The last columns, fewer than 16: through zero-padded copies, a few rows of A at a time.
void last_columns(Matrix a, std::int64_t m, Strip s, std::int64_t columns) {
  constexpr std::int64_t kDepth = 128;
  std::array<float, kDepth * kColumns> b{};
  std::array<float, kRows * kColumns> c{};
  for (std::int64_t first = 0; first < s.k || first == 0; first += kDepth) {
    const std::int64_t depth = std::min(kDepth, s.k - first);
    for (std::int64_t i = 0; i < depth; ++i) {
      std::copy_n(s.b + (first + i) * s.b_stride, columns, b.data() + i * kColumns);
    }
    const bool accumulate = s.accumulate || first > 0;
    for (std::int64_t r = 0; r < m; r += kRows) {
      const std::int64_t rows = std::min<std::int64_t>(kRows, m - r);
      all_rows(a.at(r, first), rows, {b.data(), kColumns, c.data(), kColumns, depth, false});
      for (std::int64_t row = 0; row < rows; ++row) {
        float* out = s.c + (r + row) * s.c_stride;
        const float* sums = c.data() + row * kColumns;
        for (std::int64_t j = 0; j < columns; ++j) out[j] = accumulate ? out[j] + sums[j] : sums[j];
      }
    }
  }
}

}  // namespace

void small_product(Matrix a, const float* b, std::int64_t b_stride, float* c, std::int64_t c_stride,
                   MatrixShape shape, bool accumulate) {
  std::int64_t column = 0;
  for (; column + kColumns <= shape.n; column += kColumns) {
    all_rows(a, shape.m, {b + column, b_stride, c + column, c_stride, shape.k, accumulate});
  }
  if (column < shape.n) {
    last_columns(a, shape.m, {b + column, b_stride, c + column, c_stride, shape.k, accumulate},
                 shape.n - column);
  }
}

}  // namespace zerolab::cpu
