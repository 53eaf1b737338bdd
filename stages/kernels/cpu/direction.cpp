#include "stages/kernels/cpu/direction.h"

#include "stages/kernels/cpu/float_types.h"
#include "stages/kernels/cpu/segments.h"

namespace zerolab::cpu {
namespace {

constexpr std::int64_t kGrain = 1 << 15;

struct Numbers {
  float keep;  // 1 − lr·weight_decay
  float learning_rate;
};

void nesterov(const float* __restrict g, float* __restrict momentum, float* __restrict u,
              std::int64_t count, float factor, float beta) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float gradient = g[i] * factor;
    momentum[i] = beta * momentum[i] + gradient;
    u[i] = gradient + beta * momentum[i];
  }
}

void step(float* __restrict p, const float* __restrict u, std::int64_t count, float keep,
          float size) {
  for (std::int64_t i = 0; i < count; ++i) p[i] = p[i] * keep - size * u[i];
}

}  // namespace

void nesterov_direction(ThreadTeam& team, View g, float* momentum, float* u, float factor,
                        float beta, const std::vector<Segment>& segments) {
  const std::vector<Segment> pieces = pieces_of(segments, kGrain);
  with_float_type(g, [&](auto* gradients) {
    team.for_each(static_cast<std::int64_t>(pieces.size()), [&](std::int64_t i) {
      const Segment& piece = pieces[static_cast<std::size_t>(i)];
      std::int64_t at = piece.flat_begin;
      for_fp32_pieces(gradients + at, piece.count, [&](const float* x, std::int64_t count) {
        nesterov(x, momentum + at, u + at, count, factor, beta);
        at += count;
      });
    });
  });
}

void step_along(ThreadTeam& team, float* p, const float* u, const float* scales,
                const DirectionRule& rule, const std::vector<Segment>& segments) {
  std::vector<Numbers> numbers;
  for (const GroupRule& group : groups_of(rule)) {
    const double lr = static_cast<double>(rule.learning_rate) * static_cast<double>(group.rate);
    numbers.push_back({static_cast<float>(1.0 - lr * static_cast<double>(group.weight_decay)),
                       static_cast<float>(lr)});
  }
  const std::vector<Segment> pieces = pieces_of(segments, kGrain);
  team.for_each(static_cast<std::int64_t>(pieces.size()), [&](std::int64_t i) {
    const Segment& piece = pieces[static_cast<std::size_t>(i)];
    const Numbers& n = numbers.at(static_cast<std::size_t>(piece.group));
    step(p + piece.flat_begin, u + piece.flat_begin, piece.count, n.keep,
         n.learning_rate * scales[piece.tensor]);
  });
}

}  // namespace zerolab::cpu
