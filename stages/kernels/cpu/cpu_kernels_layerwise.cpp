// Launches of what layer-wise optimizers need: norms of tensors, directions, orthogonal matrices.
#include <cmath>

#include "stages/kernels/cpu/cpu_backend.h"
#include "stages/kernels/cpu/direction.h"
#include "stages/kernels/cpu/lamb.h"
#include "stages/kernels/cpu/newton_schulz.h"
#include "stages/kernels/cpu/tensor_norms.h"

namespace zerolab::cpu {
namespace {

constexpr std::int64_t kFolds = 3;

/// The entries of the segments' tensors, `width` elements each.
std::vector<View> entries(View x, const std::vector<Segment>& segments, std::int64_t width) {
  std::vector<View> views;
  for (const Segment& segment : segments) {
    views.push_back(x.slice(segment.tensor * width, width));
  }
  return views;
}

}  // namespace

void CpuKernels::tensor_maxima(Stream& stream, View x, const std::vector<Segment>& segments,
                               View out) {
  launch(stream, "tensor_maxima", covered(x, segments), entries(out, segments, 1),
         [=, &team = team_for(stream), result = out.as<std::int32_t>()] {
           cpu::tensor_maxima(team, x, segments, result);
         });
}

void CpuKernels::tensor_sums(Stream& stream, View x, const std::vector<Segment>& segments,
                             View maxima, std::int64_t largest_count, View sums) {
  require_count("tensor_sums", "the result", sums, kFolds * maxima.count);
  std::vector<View> reads = covered(x, segments);
  append(reads, entries(maxima, segments, 1));
  launch(
      stream, "tensor_sums", std::move(reads), entries(sums, segments, kFolds),
      [=, &team = team_for(stream), bits = maxima.as<std::int32_t>(), result = sums.as<double>()] {
        cpu::tensor_sums(team, x, segments, bits, largest_count, result);
      });
}

void CpuKernels::combine_maxima(Stream& stream, View maxima, int parts, View out) {
  require_count("combine_maxima", "the maxima", maxima, parts * out.count);
  launch(stream, "combine_maxima", {maxima}, {out},
         [=, all = maxima.as<std::int32_t>(), result = out.as<std::int32_t>()] {
           cpu::combine_maxima(all, parts, out.count, result);
         });
}

void CpuKernels::trust_ratios(Stream& stream, View sums, int parts, View ratios) {
  require_count("trust_ratios", "the sums", sums, 2 * kFolds * parts * ratios.count);
  launch(stream, "trust_ratios", {sums}, {ratios},
         [=, folds = sums.as<double>(), result = ratios.as<float>()] {
           cpu::trust_ratios(folds, parts, ratios.count, result);
         });
}

void CpuKernels::lamb_direction(Stream& stream, View p, View g, View m, View v, View u, View factor,
                                const AdamWRule& rule, const std::vector<Segment>& segments) {
  require_count("lamb_direction", "the factor", factor, 1);
  require(rule.step >= 1, "[lamb] step {} was given, steps count from 1", rule.step);
  std::vector<View> reads = covered(p, segments);
  append(reads, covered(g, segments));
  reads.push_back(factor);
  std::vector<View> writes = covered(m, segments);
  append(writes, covered(v, segments));
  append(writes, covered(u, segments));
  const LambState state{p.as<float>(), g, m.as<float>(), v.as<float>(), u.as<float>()};
  launch(stream, "lamb_direction", std::move(reads), std::move(writes),
         [=, &team = team_for(stream), scale = factor.as<float>()] {
           if (std::isfinite(*scale)) cpu::lamb_direction(team, state, *scale, rule, segments);
         });
}

void CpuKernels::nesterov_direction(Stream& stream, View g, View momentum, View u, View factor,
                                    float beta, const std::vector<Segment>& segments) {
  require_count("nesterov_direction", "the factor", factor, 1);
  std::vector<View> reads = covered(g, segments);
  reads.push_back(factor);
  std::vector<View> writes = covered(momentum, segments);
  append(writes, covered(u, segments));
  launch(stream, "nesterov_direction", std::move(reads), std::move(writes),
         [=, &team = team_for(stream), buffer = momentum.as<float>(), direction = u.as<float>(),
          scale = factor.as<float>()] {
           if (!std::isfinite(*scale)) return;
           cpu::nesterov_direction(team, g, buffer, direction, *scale, beta, segments);
         });
}

void CpuKernels::step_along(Stream& stream, View p, View u, View scales, View factor,
                            const DirectionRule& rule, const std::vector<Segment>& segments) {
  require_count("step_along", "the factor", factor, 1);
  std::vector<View> reads = covered(u, segments);
  append(reads, entries(scales, segments, 1));
  reads.push_back(factor);
  launch(stream, "step_along", std::move(reads), covered(p, segments),
         [=, &team = team_for(stream), parameters = p.as<float>(), direction = u.as<float>(),
          factors = scales.as<float>(), scale = factor.as<float>()] {
           if (!std::isfinite(*scale)) return;
           cpu::step_along(team, parameters, direction, factors, rule, segments);
         });
}

void CpuKernels::newton_schulz(Stream& stream, View x, View scratch, std::int64_t m,
                               std::int64_t n) {
  require_count("newton_schulz", "the matrix", x, m * n);
  require_count("newton_schulz", "the scratch", scratch, newton_schulz_scratch(m, n));
  launch(stream, "newton_schulz", {}, {x, scratch},
         [=, &team = team_for(stream), memory = scratch.as<float>()] {
           cpu::newton_schulz(team, x, memory, m, n);
         });
}

}  // namespace zerolab::cpu
