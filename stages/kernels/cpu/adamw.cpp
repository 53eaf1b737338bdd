#include "stages/kernels/cpu/adamw.h"

#include <cmath>

#include "stages/kernels/cpu/float_types.h"
#include "stages/kernels/cpu/segments.h"

namespace zerolab::cpu {
namespace {

constexpr std::int64_t kGrain = 1 << 15;

/// The rule's numbers, computed once in fp64 and rounded once, as torch does with its scalars.
struct Numbers {
  float factor, beta1, one_minus_beta1, beta2, one_minus_beta2;
  float keep;          // 1 − lr·weight_decay
  float step_size;     // lr / (1 − β1^step)
  float inverse_root;  // 1 / √(1 − β2^step)
  float epsilon;
};

Numbers numbers_of(const AdamWRule& rule, float factor, const GroupRule& group) {
  const double lr = static_cast<double>(rule.learning_rate) * static_cast<double>(group.rate);
  const double step = static_cast<double>(rule.step);
  const double correction1 = 1.0 - std::pow(static_cast<double>(rule.beta1), step);
  const double correction2 = 1.0 - std::pow(static_cast<double>(rule.beta2), step);
  return {factor,
          rule.beta1,
          static_cast<float>(1.0 - static_cast<double>(rule.beta1)),
          rule.beta2,
          static_cast<float>(1.0 - static_cast<double>(rule.beta2)),
          static_cast<float>(1.0 - lr * static_cast<double>(group.weight_decay)),
          static_cast<float>(lr / correction1),
          static_cast<float>(1.0 / std::sqrt(correction2)),
          rule.epsilon};
}

// Reads 16 and writes 12 bytes an element: bound by memory as long as it vectorises.
void update(float* __restrict p, const float* __restrict g, float* __restrict m,
            float* __restrict v, std::int64_t count, const Numbers n) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float gradient = g[i] * n.factor;
    const float first = m[i] * n.beta1 + gradient * n.one_minus_beta1;
    const float second = v[i] * n.beta2 + gradient * gradient * n.one_minus_beta2;
    const float denominator = std::sqrt(second) * n.inverse_root + n.epsilon;
    m[i] = first;
    v[i] = second;
    p[i] = p[i] * n.keep - n.step_size * first / denominator;
  }
}

}  // namespace

void adamw(ThreadTeam& team, AdamWState s, float factor, const AdamWRule& rule,
           const std::vector<Segment>& segments) {
  std::vector<Numbers> numbers;
  for (const GroupRule& group : groups_of(rule)) numbers.push_back(numbers_of(rule, factor, group));
  const std::vector<Segment> pieces = pieces_of(segments, kGrain);
  with_float_type(s.g, [&](auto* gradients) {
    team.for_each(static_cast<std::int64_t>(pieces.size()), [&](std::int64_t i) {
      const Segment& piece = pieces[static_cast<std::size_t>(i)];
      std::int64_t at = piece.flat_begin;
      for_fp32_pieces(gradients + at, piece.count, [&](const float* g, std::int64_t n) {
        update(s.p + at, g, s.m + at, s.v + at, n,
               numbers.at(static_cast<std::size_t>(piece.group)));
        at += n;
      });
    });
  });
}

}  // namespace zerolab::cpu
