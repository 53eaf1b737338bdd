#include "stages/kernels/cpu/newton_schulz.h"

#include <algorithm>
#include <cmath>

#include "stages/kernels/cpu/order_free_sum.h"
#include "stages/kernels/cpu/tiles.h"

namespace zerolab::cpu {
namespace {

constexpr int kIterations = 5;
constexpr float kA = 3.4445F, kB = -4.7750F, kC = 2.0315F;
constexpr double kEpsilon = 1e-7;
constexpr std::int64_t kGrain = 1 << 15;

void normalise(ThreadTeam& team, View x) {
  const std::vector<Segment> whole = {{0, 0, 0, x.count}};
  const Folds folds = sum_of_squares(team, x, whole, max_magnitude(team, x, whole), x.count);
  const double norm = std::sqrt(folds.value[0] + (folds.value[1] + folds.value[2]));
  const auto factor = static_cast<float>(1.0 / (norm + kEpsilon));
  float* const values = x.as<float>();
  team.for_ranges(x.count, kGrain, [=](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i) values[i] *= factor;
  });
}

/// C(m,n) = addend·weight + A·B; a null addend is zero.
void product(ThreadTeam& team, Matrix a, Matrix b, const float* addend, float weight, float* c,
             MatrixShape shape) {
  tiled_product(
      team, a, b, c, shape,
      [=](Tile t) {
        for (std::int64_t r = t.row; r < t.row + t.rows; ++r) {
          const std::int64_t at = r * shape.n + t.column;
          if (addend == nullptr) {
            std::fill_n(c + at, t.columns, 0.0F);
          } else {
            for (std::int64_t i = at; i < at + t.columns; ++i) c[i] = weight * addend[i];
          }
        }
      },
      [](Tile) {});
}

}  // namespace

void newton_schulz(ThreadTeam& team, View x, float* scratch, std::int64_t m, std::int64_t n) {
  normalise(team, x);
  const bool wide = m <= n;
  const std::int64_t r = std::min(m, n);
  float* now = x.as<float>();
  float* next = scratch;
  float* const gram = scratch + m * n;     // (r,r): A
  float* const polynomial = gram + r * r;  // (r,r): A², then bA + cA²
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const Matrix rows{now, n}, columns{now, n, true};
    product(team, wide ? rows : columns, wide ? columns : rows, nullptr, 0, gram,
            {r, wide ? n : m, r});
    product(team, {gram, r}, {gram, r}, nullptr, 0, polynomial, {r, r, r});
    team.for_ranges(r * r, kGrain, [=](Range range) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        polynomial[i] = kB * gram[i] + kC * polynomial[i];
      }
    });
    product(team, wide ? Matrix{polynomial, r} : rows, wide ? rows : Matrix{polynomial, r}, now, kA,
            next, {m, r, n});
    std::swap(now, next);
  }
  if (now != x.as<float>()) std::copy_n(now, m * n, x.as<float>());
}

}  // namespace zerolab::cpu
