#include "stages/kernels/cpu/attention.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "stages/kernels/cpu/gemm.h"
#include "stages/kernels/cpu/softmax.h"

namespace zerolab::cpu {
namespace {

constexpr std::int64_t kQueryBlock = 64;

/// One head of one sequence: where its rows lie.
struct Head {
  std::int64_t T, size;     // positions, channels of the head
  std::int64_t qkv_stride;  // 3·C
  std::int64_t y_stride;    // C
  std::int64_t qkv_offset;  // of q in qkv; k and v are C and 2·C further
  std::int64_t y_offset;
  std::int64_t saved_offset;  // T maxima, then T inverse sums
  float scale;                // 1/√size

  std::int64_t k_offset() const { return qkv_offset + y_stride; }
  std::int64_t v_offset() const { return qkv_offset + 2 * y_stride; }
};

Head head_at(AttentionShape s, std::int64_t index) {
  const std::int64_t C = s.heads * s.head_size;
  const std::int64_t batch = index / s.heads;
  const std::int64_t channel = index % s.heads * s.head_size;
  return {s.time,
          s.head_size,
          3 * C,
          C,
          batch * s.time * 3 * C + channel,
          batch * s.time * C + channel,
          index * 2 * s.time,
          1.0F / std::sqrt(static_cast<float>(s.head_size))};
}

/// Queries [begin, begin + rows) and the `keys` = begin + rows positions that they may see.
struct Block {
  std::int64_t begin, rows, keys;
};

template <class F>
void for_blocks(std::int64_t T, const F& f) {
  for (std::int64_t begin = 0; begin < T; begin += kQueryBlock) {
    const std::int64_t rows = std::min(kQueryBlock, T - begin);
    f(Block{begin, rows, begin + rows});
  }
}

/// rows × keys floats of the largest block.
std::unique_ptr<float[]> block_scratch(std::int64_t T) {
  const auto count = static_cast<std::size_t>(std::min(kQueryBlock, T) * T);
  return std::make_unique_for_overwrite<float[]>(count);
}

void zero_rows(float* x, std::int64_t stride, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t r = 0; r < rows; ++r) std::fill_n(x + r * stride, columns, 0.0F);
}

/// scores (rows, keys) = scale · q·kᵀ
void block_scores(const Head& h, const Block& b, const float* qkv, float* scores) {
  const Matrix q{qkv + h.qkv_offset + b.begin * h.qkv_stride, h.qkv_stride};
  const Matrix k_transposed{qkv + h.k_offset(), h.qkv_stride, true};
  std::fill_n(scores, b.rows * b.keys, 0.0F);
  gemm(q, k_transposed, scores, b.keys, {b.rows, h.size, b.keys}, h.scale);
}

void head_forward(const Head& h, const float* qkv, float* y, float* saved) {
  const auto p = block_scratch(h.T);
  float* maxima = saved + h.saved_offset;
  float* inverse_sums = maxima + h.T;
  for_blocks(h.T, [&](const Block& b) {
    block_scores(h, b, qkv, p.get());
    for (std::int64_t r = 0; r < b.rows; ++r) {
      float* row = p.get() + r * b.keys;
      const std::int64_t visible = b.begin + r + 1;
      const float max = row_max(row, visible);
      const float sum = exp_and_sum(row, row, visible, max);
      std::fill(row + visible, row + b.keys, 0.0F);
      maxima[b.begin + r] = max;
      inverse_sums[b.begin + r] = 1.0F / sum;
    }
    float* out = y + h.y_offset + b.begin * h.y_stride;
    zero_rows(out, h.y_stride, b.rows, h.size);
    gemm({p.get(), b.keys}, {qkv + h.v_offset(), h.qkv_stride}, out, h.y_stride,
         {b.rows, b.keys, h.size});
    // The sum divides the head's few channels instead of the many probabilities.
    for (std::int64_t r = 0; r < b.rows; ++r) {
      multiply_row(out + r * h.y_stride, h.size, inverse_sums[b.begin + r]);
    }
  });
}

/// Turns scores into probabilities p and dp into the gradient of the scores, one row at a time:
/// ds = p ⊙ (dp − Σ dy ⊙ y) · scale.
void softmax_backward_rows(const Head& h, const Block& b, const float* dy, const float* y,
                           const float* saved, float* p, float* dp) {
  const float* maxima = saved + h.saved_offset;
  const float* inverse_sums = maxima + h.T;
  for (std::int64_t r = 0; r < b.rows; ++r) {
    float* p_row = p + r * b.keys;
    float* dp_row = dp + r * b.keys;
    const std::int64_t position = b.begin + r;
    const std::int64_t visible = position + 1;
    const std::int64_t at = h.y_offset + position * h.y_stride;
    float dot = 0.0F;
    for (std::int64_t c = 0; c < h.size; ++c) dot += dy[at + c] * y[at + c];
    exp_and_sum(p_row, p_row, visible, maxima[position]);
    const float inverse_sum = inverse_sums[position];
    for (std::int64_t j = 0; j < visible; ++j) {
      p_row[j] *= inverse_sum;
      dp_row[j] = p_row[j] * (dp_row[j] - dot) * h.scale;
    }
    std::fill(p_row + visible, p_row + b.keys, 0.0F);
    std::fill(dp_row + visible, dp_row + b.keys, 0.0F);
  }
}

void head_backward(const Head& h, const float* dy, const float* qkv, const float* y,
                   const float* saved, float* dqkv) {
  const auto p = block_scratch(h.T);
  const auto dp = block_scratch(h.T);
  const std::int64_t stride = h.qkv_stride;
  float* dq = dqkv + h.qkv_offset;
  float* dk = dqkv + h.k_offset();
  float* dv = dqkv + h.v_offset();
  for (float* d : {dq, dk, dv}) zero_rows(d, stride, h.T, h.size);
  for_blocks(h.T, [&](const Block& b) {
    const Matrix d_out{dy + h.y_offset + b.begin * h.y_stride, h.y_stride};
    block_scores(h, b, qkv, p.get());
    std::fill_n(dp.get(), b.rows * b.keys, 0.0F);
    gemm(d_out, {qkv + h.v_offset(), stride, true}, dp.get(), b.keys, {b.rows, h.size, b.keys});
    softmax_backward_rows(h, b, dy, y, saved, p.get(), dp.get());
    gemm({p.get(), b.keys, true}, d_out, dv, stride, {b.keys, b.rows, h.size});
    gemm({dp.get(), b.keys}, {qkv + h.k_offset(), stride}, dq + b.begin * stride, stride,
         {b.rows, b.keys, h.size});
    gemm({dp.get(), b.keys, true}, {qkv + h.qkv_offset + b.begin * stride, stride}, dk, stride,
         {b.keys, b.rows, h.size});
  });
}

}  // namespace

std::int64_t attention_saved_count(AttentionShape s) { return 2 * s.batch * s.heads * s.time; }

void attention(ThreadTeam& team, const float* qkv, float* y, float* saved, AttentionShape s) {
  team.for_each(s.batch * s.heads,
                [=](std::int64_t i) { head_forward(head_at(s, i), qkv, y, saved); });
}

void attention_backward(ThreadTeam& team, const float* dy, const float* qkv, const float* y,
                        const float* saved, float* dqkv, AttentionShape s) {
  team.for_each(s.batch * s.heads,
                [=](std::int64_t i) { head_backward(head_at(s, i), dy, qkv, y, saved, dqkv); });
}

}  // namespace zerolab::cpu
