// Compiled with -O3 and without the pattern that turns a copying loop into a call (bench.cmake).
#include "experiments/bench/limits.h"

#include <array>

#include "stages/kernels/cpu/simd.h"

namespace zerolab::limits {

void copy(const float* __restrict from, float* __restrict to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i];
}

void adamw_pattern(float* __restrict p, const float* __restrict g, float* __restrict m,
                   float* __restrict v, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float gradient = g[i];
    const float second = v[i];
    p[i] = p[i] * 0.5F + gradient;
    m[i] = m[i] * 0.5F + second;
    v[i] = second * 0.5F + 0.001F;
  }
}

float multiply_add(std::int64_t rounds) {
  // Twelve chains cover four cycles of latency on two units and leave registers for the factors.
  std::array<cpu::Float8, 12> sums;
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = cpu::splat8(static_cast<float>(i));
  const cpu::Float8 factor = cpu::splat8(0.999F);
  const cpu::Float8 term = cpu::splat8(0.001F);
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (cpu::Float8& sum : sums) sum = cpu::fma8(sum, factor, term);
  }
  float total = 0;
  for (const cpu::Float8& sum : sums) total += cpu::sum_of_lanes(sum);
  return total;
}

}  // namespace zerolab::limits
