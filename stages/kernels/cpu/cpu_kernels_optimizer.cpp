// Launches of norms, fingerprints and optimizers: what walks the segments of a slice.
#include <algorithm>
#include <cmath>

#include "stages/kernels/cpu/adamw.h"
#include "stages/kernels/cpu/cpu_backend.h"
#include "stages/kernels/cpu/fingerprint.h"
#include "stages/kernels/cpu/order_free_sum.h"
#include "stages/kernels/cpu/sgd.h"

namespace zerolab::cpu {
namespace {

std::int32_t largest(const std::int32_t* maxima, std::int64_t count) {
  return count == 0 ? 0 : *std::max_element(maxima, maxima + count);
}

}  // namespace

void CpuKernels::max_magnitude(Stream& stream, View x, const std::vector<Segment>& segments,
                               View out) {
  require_count("max_magnitude", "the result", out, 1);
  launch(stream, "max_magnitude", covered(x, segments), {out},
         [=, &team = team_for(stream), result = out.as<std::int32_t>()] {
           *result = std::max(*result, cpu::max_magnitude(team, x, segments));
         });
}

void CpuKernels::sum_of_squares(Stream& stream, View x, const std::vector<Segment>& segments,
                                View maxima, std::int64_t global_count, View sums) {
  require_count("sum_of_squares", "the result", sums, 3);
  std::vector<View> reads = covered(x, segments);
  reads.push_back(maxima);
  launch(
      stream, "sum_of_squares", std::move(reads), {sums},
      [=, &team = team_for(stream), bits = maxima.as<std::int32_t>(), result = sums.as<double>()] {
        const Folds folds =
            cpu::sum_of_squares(team, x, segments, largest(bits, maxima.count), global_count);
        for (int f = 0; f < 3; ++f) result[f] += folds.value[f];
      });
}

void CpuKernels::norm_and_factor(Stream& stream, View maxima, View sums, int parts, double scale,
                                 double max_norm, View out) {
  require_count("norm_and_factor", "the sums", sums, std::int64_t{3} * parts);
  require_count("norm_and_factor", "the result", out, 2);
  launch(
      stream, "norm_and_factor", {maxima, sums}, {out},
      [=, bits = maxima.as<std::int32_t>(), folds = sums.as<double>(), result = out.as<float>()] {
        const NormAndFactor both =
            cpu::norm_and_factor(largest(bits, maxima.count), folds, parts, scale, max_norm);
        result[0] = both.norm;
        result[1] = both.factor;
      });
}

void CpuKernels::fingerprint(Stream& stream, View x, const std::vector<Segment>& segments,
                             View out) {
  std::vector<View> writes;
  for (const Segment& segment : segments) writes.push_back(out.slice(segment.tensor, 1));
  launch(stream, "fingerprint", covered(x, segments), std::move(writes),
         [=, &team = team_for(stream), result = out.as<std::uint64_t>()] {
           cpu::fingerprint(team, x, segments, result);
         });
}

void CpuKernels::adamw(Stream& stream, View p, View g, View m, View v, View factor,
                       const AdamWRule& rule, const std::vector<Segment>& segments) {
  require_count("adamw", "the factor", factor, 1);
  require(rule.step >= 1, "[adamw] step {} was given, steps count from 1", rule.step);
  std::vector<View> reads = covered(g, segments);
  reads.push_back(factor);
  std::vector<View> writes = covered(p, segments);
  append(writes, covered(m, segments));
  append(writes, covered(v, segments));
  const AdamWState state{p.as<float>(), g, m.as<float>(), v.as<float>()};
  launch(stream, "adamw", std::move(reads), std::move(writes),
         [=, &team = team_for(stream), scale = factor.as<float>()] {
           if (std::isfinite(*scale)) cpu::adamw(team, state, *scale, rule, segments);
         });
}

void CpuKernels::sgd(Stream& stream, View p, View g, View momentum, View factor,
                     const SgdRule& rule, const std::vector<Segment>& segments) {
  require_count("sgd", "the factor", factor, 1);
  require(rule.step >= 1, "[sgd] step {} was given, steps count from 1", rule.step);
  std::vector<View> reads = covered(g, segments);
  reads.push_back(factor);
  std::vector<View> writes = covered(p, segments);
  const bool has_momentum = rule.momentum != 0.0F;
  if (has_momentum) append(writes, covered(momentum, segments));
  launch(stream, "sgd", std::move(reads), std::move(writes),
         [=, &team = team_for(stream), parameters = p.as<float>(),
          buffer = has_momentum ? momentum.as<float>() : nullptr, scale = factor.as<float>()] {
           if (!std::isfinite(*scale)) return;
           cpu::sgd(team, parameters, g, buffer, *scale, rule, segments);
         });
}

}  // namespace zerolab::cpu
