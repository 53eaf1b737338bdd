#include "stages/kernels/cpu/lamb.h"

#include <cmath>

#include "stages/kernels/cpu/float_types.h"
#include "stages/kernels/cpu/segments.h"

namespace zerolab::cpu {
namespace {

constexpr std::int64_t kGrain = 1 << 15;

/// The rule's numbers, computed once in fp64 and rounded once, as in AdamW.
struct Numbers {
  float factor, beta1, one_minus_beta1, beta2, one_minus_beta2;
  float inverse_correction;  // 1 / (1 − β1^step)
  float inverse_root;        // 1 / √(1 − β2^step)
  float epsilon, weight_decay;
};

Numbers numbers_of(const AdamWRule& rule, float factor) {
  const double step = static_cast<double>(rule.step);
  const double beta1 = static_cast<double>(rule.beta1), beta2 = static_cast<double>(rule.beta2);
  return {factor,
          rule.beta1,
          static_cast<float>(1.0 - beta1),
          rule.beta2,
          static_cast<float>(1.0 - beta2),
          static_cast<float>(1.0 / (1.0 - std::pow(beta1, step))),
          static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(beta2, step))),
          rule.epsilon,
          0};
}

void direction(const float* __restrict p, const float* __restrict g, float* __restrict m,
               float* __restrict v, float* __restrict u, std::int64_t count, const Numbers n) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float gradient = g[i] * n.factor;
    const float first = m[i] * n.beta1 + gradient * n.one_minus_beta1;
    const float second = v[i] * n.beta2 + gradient * gradient * n.one_minus_beta2;
    const float denominator = std::sqrt(second) * n.inverse_root + n.epsilon;
    m[i] = first;
    v[i] = second;
    u[i] = first * n.inverse_correction / denominator + n.weight_decay * p[i];
  }
}

}  // namespace

void lamb_direction(ThreadTeam& team, LambState s, float factor, const AdamWRule& rule,
                    const std::vector<Segment>& segments) {
  const std::vector<GroupRule> groups = groups_of(rule);
  const Numbers shared = numbers_of(rule, factor);
  const std::vector<Segment> pieces = pieces_of(segments, kGrain);
  with_float_type(s.g, [&](auto* gradients) {
    team.for_each(static_cast<std::int64_t>(pieces.size()), [&](std::int64_t i) {
      const Segment& piece = pieces[static_cast<std::size_t>(i)];
      Numbers n = shared;
      n.weight_decay = groups.at(static_cast<std::size_t>(piece.group)).weight_decay;
      std::int64_t at = piece.flat_begin;
      for_fp32_pieces(gradients + at, piece.count, [&](const float* g, std::int64_t count) {
        direction(s.p + at, g, s.m + at, s.v + at, s.u + at, count, n);
        at += count;
      });
    });
  });
}

}  // namespace zerolab::cpu
