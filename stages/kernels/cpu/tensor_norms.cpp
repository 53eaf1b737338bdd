#include "stages/kernels/cpu/tensor_norms.h"

#include <algorithm>
#include <cmath>

#include "stages/kernels/cpu/order_free_sum.h"

namespace zerolab::cpu {

void tensor_maxima(ThreadTeam& team, View x, const std::vector<Segment>& segments,
                   std::int32_t* out) {
  for (const Segment& segment : segments) {
    std::int32_t& most = out[segment.tensor];
    most = std::max(most, max_magnitude(team, x, {segment}));
  }
}

void tensor_sums(ThreadTeam& team, View x, const std::vector<Segment>& segments,
                 const std::int32_t* maxima, std::int64_t largest_count, double* sums) {
  for (const Segment& segment : segments) {
    const Folds folds = sum_of_squares(team, x, {segment}, maxima[segment.tensor], largest_count);
    double* const sum = sums + std::ptrdiff_t{3} * segment.tensor;
    for (int f = 0; f < 3; ++f) sum[f] += folds.value[f];
  }
}

void combine_maxima(const std::int32_t* maxima, int parts, std::int64_t count, std::int32_t* out) {
  std::copy_n(maxima, count, out);
  for (int part = 1; part < parts; ++part) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = std::max(out[i], maxima[part * count + i]);
  }
}

void trust_ratios(const double* sums, int parts, std::int64_t tensors, float* ratios) {
  // Exact sums: the norm has the same bits for every cut.
  const auto norm = [=](std::int64_t entry) {
    Folds total;
    for (int part = 0; part < parts; ++part) {
      const double* const folds = sums + 3 * (part * 2 * tensors + entry);
      for (int f = 0; f < 3; ++f) total.value[f] += folds[f];
    }
    return std::sqrt(total.value[0] + (total.value[1] + total.value[2]));
  };
  for (std::int64_t t = 0; t < tensors; ++t) {
    const double w = norm(t), u = norm(tensors + t);
    ratios[t] = w == 0.0 || u == 0.0 ? 1.0F : static_cast<float>(w / u);
  }
}

}  // namespace zerolab::cpu
