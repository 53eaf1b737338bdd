#include "stages/kernels/cpu/sgd.h"

#include "stages/kernels/cpu/float_types.h"
#include "stages/kernels/cpu/segments.h"

namespace zerolab::cpu {
namespace {

constexpr std::int64_t kGrain = 1 << 15;

struct Numbers {
  float factor, weight_decay, momentum, learning_rate;
};

void update_plain(float* __restrict p, const float* __restrict g, std::int64_t count,
                  const Numbers n) {
  for (std::int64_t i = 0; i < count; ++i) {
    p[i] -= n.learning_rate * (g[i] * n.factor + n.weight_decay * p[i]);
  }
}

void update_first(float* __restrict p, const float* __restrict g, float* __restrict buffer,
                  std::int64_t count, const Numbers n) {
  for (std::int64_t i = 0; i < count; ++i) {
    buffer[i] = g[i] * n.factor + n.weight_decay * p[i];
    p[i] -= n.learning_rate * buffer[i];
  }
}

void update_later(float* __restrict p, const float* __restrict g, float* __restrict buffer,
                  std::int64_t count, const Numbers n) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float gradient = g[i] * n.factor + n.weight_decay * p[i];
    buffer[i] = n.momentum * buffer[i] + gradient;
    p[i] -= n.learning_rate * buffer[i];
  }
}

}  // namespace

void sgd(ThreadTeam& team, float* p, View g, float* momentum, float factor, const SgdRule& rule,
         const std::vector<Segment>& segments) {
  const std::vector<GroupRule> groups = groups_of(rule);
  const std::vector<Segment> pieces = pieces_of(segments, kGrain);
  with_float_type(g, [&](auto* gradients) {
    team.for_each(static_cast<std::int64_t>(pieces.size()), [&](std::int64_t i) {
      const Segment& piece = pieces[static_cast<std::size_t>(i)];
      const GroupRule& group = groups.at(static_cast<std::size_t>(piece.group));
      const Numbers n{factor, group.weight_decay, rule.momentum, rule.learning_rate * group.rate};
      std::int64_t at = piece.flat_begin;
      for_fp32_pieces(gradients + at, piece.count, [&](const float* x, std::int64_t count) {
        if (rule.momentum == 0.0F) {
          update_plain(p + at, x, count, n);
        } else if (rule.step == 1) {
          update_first(p + at, x, momentum + at, count, n);
        } else {
          update_later(p + at, x, momentum + at, count, n);
        }
        at += count;
      });
    });
  });
}

}  // namespace zerolab::cpu
