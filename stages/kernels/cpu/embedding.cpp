#include "stages/kernels/cpu/embedding.h"

#include "stages/core/error.h"

namespace zerolab::cpu {
namespace {

std::int64_t checked(std::int32_t token, std::int64_t vocabulary) {
  if (token < 0 || token >= vocabulary) {
    fail(
        "[embedding] token {} was found, tokens from 0 to {} were expected; check that the data "
        "was made for this model's vocabulary",
        token, vocabulary - 1);
  }
  return token;
}

void add_row(const float* __restrict src, float* __restrict dst, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) dst[i] += src[i];
}

}  // namespace

void embedding(ThreadTeam& team, const std::int32_t* tokens, const float* wte, const float* wpe,
               float* y, EmbeddingShape s) {
  const std::int64_t C = s.channels;
  team.for_ranges(s.batch * s.time, 64, [=](Range rows) {
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      const float* token = wte + checked(tokens[i], s.vocabulary) * C;
      const float* position = wpe + i % s.time * C;
      float* __restrict out = y + i * C;
      for (std::int64_t c = 0; c < C; ++c) out[c] = token[c] + position[c];
    }
  });
}

void embedding_backward(ThreadTeam& team, const std::int32_t* tokens, const float* dy, float* dwte,
                        float* dwpe, EmbeddingShape s) {
  // Cut by channels, not by tokens: equal tokens meet in one row, and must add up in order.
  const std::int64_t C = s.channels;
  team.for_ranges(C, 64, [=](Range strip) {
    for (std::int64_t i = 0; i < s.batch * s.time; ++i) {
      const float* d = dy + i * C + strip.begin;
      if (dwte != nullptr) {
        add_row(d, dwte + checked(tokens[i], s.vocabulary) * C + strip.begin, strip.size());
      }
      if (dwpe != nullptr) add_row(d, dwpe + i % s.time * C + strip.begin, strip.size());
    }
  });
}

}  // namespace zerolab::cpu
