#include "stages/kernels/cpu/order_free_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "stages/kernels/cpu/float_types.h"
#include "stages/kernels/cpu/segments.h"

namespace zerolab::cpu {
namespace {

constexpr std::int64_t kGrain = 1 << 16;
constexpr std::int32_t kInfinityBits = 0x7f800000;
using Double4 = double __attribute__((vector_size(32)));

std::int32_t max_bits_of(const float* x, std::int64_t count) {
  std::int32_t most = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    most = std::max(most, std::bit_cast<std::int32_t>(x[i]) & 0x7fffffff);
  }
  return most;
}

/// Adds x² to the folds; exact, so the lanes may be added up in any order.
template <int kFolds>
void add_squares(const float* x, std::int64_t count, const FoldConstants& constants, Folds& folds) {
  Double4 sums[kFolds] = {};
  const auto add = [&](Double4 t) {
    for (int f = 0; f < kFolds; ++f) {
      const double sigma = constants.sigma[f];
      const Double4 rounded = (t + sigma) - sigma;
      sums[f] += rounded;
      t -= rounded;
    }
  };
  const auto lanes = [](const float* p) { return Double4{p[0], p[1], p[2], p[3]}; };
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const Double4 v = lanes(x + i);
    add(v * v);
  }
  for (; i < count; ++i) {
    const Double4 v{x[i], 0.0, 0.0, 0.0};
    add(v * v);
  }
  for (int f = 0; f < kFolds; ++f) {
    folds.value[f] += (sums[f][0] + sums[f][1]) + (sums[f][2] + sums[f][3]);
  }
}

}  // namespace

FoldConstants fold_constants(std::int32_t max_bits, std::int64_t count) {
  constexpr int kMaxCountBits = 32;
  require(count >= 0 && count <= (std::int64_t{1} << kMaxCountBits),
          "[order_free_sum] a sum over {} elements was asked for, at most 2^{} are supported",
          count, kMaxCountBits);
  // |x| < 2^e, so x² < 2^2e; count <= 2^c, with c >= 1 so that t stays below a third of σ.
  int e = 0;
  std::frexp(std::bit_cast<float>(max_bits), &e);
  const int c = std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(count, 2) - 1));
  FoldConstants constants;
  constants.folds = c > 24 ? 3 : 2;
  // The unit of the first fold: 2^c terms of at most 2^2e plus half a unit stay below 2^53 units.
  int unit = 2 * e + c + 1 - 53;
  for (double& sigma : constants.sigma) {
    // 1.5·2^52 units: σ ± t keeps σ's exponent, hence its unit.
    sigma = std::ldexp(1.5, 52 + unit);
    // What is left of a term is at most half a unit; 2^c of these, plus rounding, in 53 bits.
    unit += c - 53;
  }
  return constants;
}

std::int32_t max_magnitude(ThreadTeam& team, View x, const std::vector<Segment>& segments) {
  const std::vector<Segment> pieces = pieces_of(segments, kGrain);
  std::vector<std::int32_t> maxima(pieces.size(), 0);
  with_float_type(x, [&](auto* data) {
    team.for_each(static_cast<std::int64_t>(pieces.size()), [&](std::int64_t i) {
      const auto at = static_cast<std::size_t>(i);
      std::int32_t most = 0;
      for_fp32_pieces(
          data + pieces[at].flat_begin, pieces[at].count,
          [&](const float* p, std::int64_t n) { most = std::max(most, max_bits_of(p, n)); });
      maxima[at] = most;
    });
  });
  return maxima.empty() ? 0 : *std::max_element(maxima.begin(), maxima.end());
}

Folds sum_of_squares(ThreadTeam& team, View x, const std::vector<Segment>& segments,
                     std::int32_t max_bits, std::int64_t count) {
  if (max_bits >= kInfinityBits) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return {{nan, nan, nan}};
  }
  const FoldConstants constants = fold_constants(max_bits, count);
  const std::vector<Segment> pieces = pieces_of(segments, kGrain);
  std::vector<Folds> folds(pieces.size());
  with_float_type(x, [&](auto* data) {
    team.for_each(static_cast<std::int64_t>(pieces.size()), [&](std::int64_t i) {
      const auto at = static_cast<std::size_t>(i);
      for_fp32_pieces(data + pieces[at].flat_begin, pieces[at].count,
                      [&](const float* p, std::int64_t n) {
                        if (constants.folds == 3) {
                          add_squares<3>(p, n, constants, folds[at]);
                        } else {
                          add_squares<2>(p, n, constants, folds[at]);
                        }
                      });
    });
  });
  Folds total;
  for (const Folds& part : folds) {
    for (int f = 0; f < 3; ++f) total.value[f] += part.value[f];
  }
  return total;
}

NormAndFactor norm_and_factor(std::int32_t max_bits, const double* sums, int parts, double scale,
                              double max_norm) {
  if (max_bits >= kInfinityBits) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    return {nan, nan};
  }
  Folds total;
  for (int part = 0; part < parts; ++part) {
    for (int f = 0; f < 3; ++f) total.value[f] += sums[3 * part + f];
  }
  const double sum = total.value[0] + (total.value[1] + total.value[2]);
  const double norm = scale * std::sqrt(sum);
  double factor = scale;
  // Not std::min: a NaN norm must give a NaN factor.
  if (max_norm > 0.0 && !(max_norm / (norm + 1e-6) >= 1.0)) factor *= max_norm / (norm + 1e-6);
  return {static_cast<float>(norm), static_cast<float>(factor)};
}

}  // namespace zerolab::cpu
