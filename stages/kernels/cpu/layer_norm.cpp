#include "stages/kernels/cpu/layer_norm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stages/kernels/cpu/simd.h"

namespace zerolab::cpu {
namespace {

// Rows whose gradients of w and b are added up together; fixed, because it decides the rounding.
constexpr std::int64_t kBlockRows = 64;

/// Σ f(i) over [0, C): f returns the lanes from element i on, of which the last call's first
/// `C mod 8` count.
template <class F>
float sum_over_row(std::int64_t C, const F& f) {
  Float8 total = splat8(0.0F);
  std::int64_t i = 0;
  for (; i + kLanes <= C; i += kLanes) total += f(i, kLanes);
  float sum = sum_of_lanes(total);
  if (i < C) {
    const Float8 rest = f(i, C - i);
    for (std::int64_t lane = 0; lane < C - i; ++lane) sum += rest[lane];
  }
  return sum;
}

Float8 load_some(const float* p, std::int64_t n) {
  return n == kLanes ? load8(p) : load8(p, n, 0.0F);
}

struct RowStatistics {
  float mean, rstd;
};

RowStatistics statistics(const float* x, std::int64_t C) {
  const auto n = static_cast<float>(C);
  const float mean =
      sum_over_row(C, [&](std::int64_t i, std::int64_t k) { return load_some(x + i, k); }) / n;
  const float variance = sum_over_row(C,
                                      [&](std::int64_t i, std::int64_t k) {
                                        const Float8 d = load_some(x + i, k) - splat8(mean);
                                        return d * d;
                                      }) /
                         n;
  return {mean, 1.0F / std::sqrt(variance + kLayerNormEpsilon)};
}

struct Row {
  const float *dy, *x, *carry;
  float* dx;
  float mean, rstd;
};

// With x̂ = (x − mean)·rstd and g = dy ⊙ w: dx = rstd · (g − mean(g) − x̂ · mean(g ⊙ x̂)).
void row_backward(const Row& row, const float* w, std::int64_t C) {
  const auto normalised = [&](std::int64_t i, std::int64_t k) {
    return (load_some(row.x + i, k) - splat8(row.mean)) * splat8(row.rstd);
  };
  const auto n = static_cast<float>(C);
  const float g_mean = sum_over_row(C,
                                    [&](std::int64_t i, std::int64_t k) {
                                      return load_some(row.dy + i, k) * load_some(w + i, k);
                                    }) /
                       n;
  const float gx_mean =
      sum_over_row(C,
                   [&](std::int64_t i, std::int64_t k) {
                     return load_some(row.dy + i, k) * load_some(w + i, k) * normalised(i, k);
                   }) /
      n;
  for (std::int64_t i = 0; i < C; i += kLanes) {
    const std::int64_t k = std::min(kLanes, C - i);
    const Float8 g = load_some(row.dy + i, k) * load_some(w + i, k);
    Float8 d = (g - splat8(g_mean) - normalised(i, k) * splat8(gx_mean)) * splat8(row.rstd);
    if (row.carry != nullptr) d += load_some(row.carry + i, k);
    if (k == kLanes) {
      store8(row.dx + i, d);
    } else {
      store8(row.dx + i, d, k);
    }
  }
}

void add_weight_gradients(const Row& row, float* __restrict dw, float* __restrict db,
                          std::int64_t C) {
  for (std::int64_t i = 0; i < C; ++i) {
    dw[i] += row.dy[i] * ((row.x[i] - row.mean) * row.rstd);
    db[i] += row.dy[i];
  }
}

}  // namespace

void layer_norm(ThreadTeam& team, const float* x, const float* w, const float* b, float* y,
                float* mean, float* rstd, std::int64_t rows, std::int64_t C) {
  team.for_ranges(rows, kBlockRows, [=](Range block) {
    for (std::int64_t r = block.begin; r < block.end; ++r) {
      const float* in = x + r * C;
      float* __restrict out = y + r * C;
      const RowStatistics s = statistics(in, C);
      mean[r] = s.mean;
      rstd[r] = s.rstd;
      for (std::int64_t i = 0; i < C; ++i) out[i] = (in[i] - s.mean) * s.rstd * w[i] + b[i];
    }
  });
}

void layer_norm_backward(ThreadTeam& team, const float* dy, const float* x, const float* w,
                         const float* mean, const float* rstd, const float* carry, float* dx,
                         float* dw, float* db, std::int64_t rows, std::int64_t C) {
  const std::int64_t blocks = (rows + kBlockRows - 1) / kBlockRows;
  // dw and db of each block of rows, 2·C a block, added up in block order at the end.
  std::vector<float> partial(static_cast<std::size_t>(blocks * 2 * C), 0.0F);
  float* const sums = partial.data();
  team.for_ranges(rows, kBlockRows, [=](Range block) {
    float* block_dw = sums + block.begin / kBlockRows * 2 * C;
    for (std::int64_t r = block.begin; r < block.end; ++r) {
      const Row row{dy + r * C, x + r * C, carry == nullptr ? nullptr : carry + r * C,
                    dx + r * C, mean[r],   rstd[r]};
      add_weight_gradients(row, block_dw, block_dw + C, C);
      row_backward(row, w, C);
    }
  });
  for (std::int64_t block = 0; block < blocks; ++block) {
    const float* block_dw = sums + block * 2 * C;
    for (std::int64_t i = 0; dw != nullptr && i < C; ++i) dw[i] += block_dw[i];
    for (std::int64_t i = 0; db != nullptr && i < C; ++i) db[i] += block_dw[C + i];
  }
}

}  // namespace zerolab::cpu
