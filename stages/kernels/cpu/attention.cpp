#include "stages/kernels/cpu/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "stages/kernels/cpu/dropout.h"
#include "stages/kernels/cpu/small_product.h"
#include "stages/kernels/cpu/softmax.h"

namespace zerolab::cpu {
namespace {

// Queries handled together: few enough that little is computed above the diagonal, many enough to
// reuse the keys while they are in cache. A multiple of the product's six rows.
constexpr std::int64_t kQueryBlock = 24;

/// One head of one sequence: where its rows lie.
struct Head {
  std::int64_t T, size;     // positions, channels of the head
  std::int64_t qkv_stride;  // 3·C
  std::int64_t y_stride;    // C
  std::int64_t qkv_offset;  // of q in qkv; k and v are C and 2·C further
  std::int64_t y_offset;
  std::int64_t saved_offset;               // T maxima, then T inverse sums
  float scale;                             // 1/√size
  std::int64_t sample, first_probability;  // of the dropout's mask

  std::int64_t k_offset() const { return qkv_offset + y_stride; }
  std::int64_t v_offset() const { return qkv_offset + 2 * y_stride; }
  /// Distance between rows of scores: T rounded up, so that no row has an odd end, and a line more,
  /// so that rows do not meet in the same sets of the cache when T is a power of two.
  std::int64_t row_stride() const { return round_up(T, 16) + 16; }
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
          1.0F / std::sqrt(static_cast<float>(s.head_size)),
          batch,
          index % s.heads * s.time * s.time};
}

/// Queries [begin, begin + rows) and the `keys` = begin + rows positions that they may see.
struct Block {
  std::int64_t begin, rows, keys;

  std::int64_t padded_keys() const { return round_up(keys, 16); }
};

template <class F>
void for_blocks(std::int64_t T, const F& f) {
  for (std::int64_t begin = 0; begin < T; begin += kQueryBlock) {
    const std::int64_t rows = std::min(kQueryBlock, T - begin);
    f(Block{begin, rows, begin + rows});
  }
}

/// Copies of a head's matrices in the layouts that the products want, and a block of scores.
class Scratch {
 public:
  Scratch(const Head& h, int matrices, int score_blocks)
      : matrix_(h.size * h.row_stride()),
        scores_(std::min(kQueryBlock, h.T) * h.row_stride()),
        matrices_(matrices),
        data_(std::make_unique_for_overwrite<float[]>(
            static_cast<std::size_t>(matrices * matrix_ + score_blocks * scores_))) {}

  float* matrix(int i) { return data_.get() + i * matrix_; }
  float* scores(int i) { return data_.get() + matrices_ * matrix_ + i * scores_; }

 private:
  std::int64_t matrix_, scores_;
  int matrices_;
  std::unique_ptr<float[]> data_;
};

/// out (size, row_stride) = scale · xᵀ, zero where there is no position
void transposed_copy(const Head& h, const float* x, float scale, float* out) {
  constexpr std::int64_t kTogether = 16;  // positions whose lines of x stay in cache meanwhile
  const std::int64_t stride = h.row_stride();
  for (std::int64_t t = 0; t < h.T; t += kTogether) {
    const std::int64_t count = std::min(kTogether, h.T - t);
    for (std::int64_t c = 0; c < h.size; ++c) {
      float* const row = out + c * stride + t;
      for (std::int64_t i = 0; i < count; ++i) row[i] = scale * x[(t + i) * h.qkv_stride + c];
      for (std::int64_t i = count; i < kTogether; ++i) row[i] = 0.0F;
    }
  }
}

/// out (T, size) = x
void packed_copy(const Head& h, const float* x, float* out) {
  for (std::int64_t t = 0; t < h.T; ++t) {
    std::copy_n(x + t * h.qkv_stride, h.size, out + t * h.size);
  }
}

/// scores (rows, keys) = x · other: q·kᵀ/√size or dy·vᵀ
void block_scores(const Head& h, const Block& b, Matrix x, const float* other, float* scores) {
  small_product(x, other, h.row_stride(), scores, h.row_stride(), {b.rows, h.size, b.padded_keys()},
                false);
}

/// Hides the keys after the query: they count as −∞ up to a multiple of 16, which is returned (so
/// that no loop has an odd end), and as probability 0 from there on.
std::int64_t mask_future(const Block& b, std::int64_t r, float* row) {
  const std::int64_t visible = b.begin + r + 1;
  const std::int64_t count = round_up(visible, 16);
  std::fill(row + visible, row + count, -std::numeric_limits<float>::infinity());
  std::fill(row + count, row + b.padded_keys(), 0.0F);
  return count;
}

/// What the probabilities of one query after the other are multiplied by.
class Dropped {
 public:
  Dropped(const Head& h, const DropoutMask& mask)
      : h_(h), mask_(mask), scales_(mask.probability > 0 ? static_cast<std::size_t>(h.T) : 0) {}

  bool none() const { return scales_.empty(); }
  /// For the keys that the query may see. Call where there are any.
  const float* draw(std::int64_t query) {
    draw_dropout(mask_, h_.sample, h_.first_probability + query * h_.T, query + 1, scales_.data());
    return scales_.data();
  }

 private:
  const Head& h_;
  const DropoutMask& mask_;
  std::vector<float> scales_;
};

void head_forward(const Head& h, const float* qkv, float* y, float* saved,
                  const DropoutMask& mask) {
  Scratch scratch(h, 2, 1);
  Dropped dropped(h, mask);
  float* const k_transposed = scratch.matrix(0);
  float* const v = scratch.matrix(1);
  float* const p = scratch.scores(0);
  float* maxima = saved + h.saved_offset;
  float* inverse_sums = maxima + h.T;
  transposed_copy(h, qkv + h.k_offset(), h.scale, k_transposed);
  packed_copy(h, qkv + h.v_offset(), v);
  for_blocks(h.T, [&](const Block& b) {
    const Matrix q{qkv + h.qkv_offset + b.begin * h.qkv_stride, h.qkv_stride};
    block_scores(h, b, q, k_transposed, p);
    for (std::int64_t r = 0; r < b.rows; ++r) {
      float* row = p + r * h.row_stride();
      const std::int64_t count = mask_future(b, r, row);
      const float max = row_max(row, count);
      const float sum = exp_and_sum(row, row, count, max);
      maxima[b.begin + r] = max;
      inverse_sums[b.begin + r] = 1.0F / sum;
      if (dropped.none()) continue;
      const float* const scales = dropped.draw(b.begin + r);
      for (std::int64_t j = 0; j <= b.begin + r; ++j) row[j] *= scales[j];
    }
    float* out = y + h.y_offset + b.begin * h.y_stride;
    small_product({p, h.row_stride()}, v, h.size, out, h.y_stride, {b.rows, b.keys, h.size}, false);
    // The sum divides the head's few channels instead of the many probabilities.
    for (std::int64_t r = 0; r < b.rows; ++r) {
      multiply_row(out + r * h.y_stride, h.size, inverse_sums[b.begin + r]);
    }
  });
}

/// Turns scores into probabilities p, with their dropout m in the end, and dp into the gradient of
/// the scores, one row at a time: ds = p ⊙ (m ⊙ dp − Σ dy ⊙ y) / √size.
void softmax_backward_rows(const Head& h, const Block& b, const float* dy, const float* y,
                           const float* saved, Dropped& dropped, float* p, float* dp) {
  const float* maxima = saved + h.saved_offset;
  const float* inverse_sums = maxima + h.T;
  for (std::int64_t r = 0; r < b.rows; ++r) {
    float* p_row = p + r * h.row_stride();
    float* dp_row = dp + r * h.row_stride();
    const std::int64_t position = b.begin + r;
    const std::int64_t at = h.y_offset + position * h.y_stride;
    const float dot = row_dot(dy + at, y + at, h.size);
    const std::int64_t count = mask_future(b, r, p_row);
    exp_and_sum(p_row, p_row, count, maxima[position]);
    const float inverse_sum = inverse_sums[position];
    const float* const scales = dropped.none() ? nullptr : dropped.draw(position);
    for (std::int64_t j = 0; scales != nullptr && j <= position; ++j) dp_row[j] *= scales[j];
    for (std::int64_t j = 0; j < count; ++j) {
      p_row[j] *= inverse_sum;
      dp_row[j] = p_row[j] * (dp_row[j] - dot) * h.scale;
    }
    for (std::int64_t j = 0; scales != nullptr && j <= position; ++j) p_row[j] *= scales[j];
    std::fill(dp_row + count, dp_row + b.padded_keys(), 0.0F);
  }
}

void zero_rows(float* x, std::int64_t stride, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t r = 0; r < rows; ++r) std::fill_n(x + r * stride, columns, 0.0F);
}

void head_backward(const Head& h, const float* dy, const float* qkv, const float* y,
                   const float* saved, float* dqkv, const DropoutMask& mask) {
  Scratch scratch(h, 3, 2);
  Dropped dropped(h, mask);
  float* const k_transposed = scratch.matrix(0);
  float* const v_transposed = scratch.matrix(1);
  float* const k = scratch.matrix(2);
  float* const p = scratch.scores(0);
  float* const dp = scratch.scores(1);
  const std::int64_t stride = h.qkv_stride;
  float* const dq = dqkv + h.qkv_offset;
  float* const dk = dqkv + h.k_offset();
  float* const dv = dqkv + h.v_offset();
  transposed_copy(h, qkv + h.k_offset(), h.scale, k_transposed);
  transposed_copy(h, qkv + h.v_offset(), 1.0F, v_transposed);
  packed_copy(h, qkv + h.k_offset(), k);
  zero_rows(dk, stride, h.T, h.size);
  zero_rows(dv, stride, h.T, h.size);
  for_blocks(h.T, [&](const Block& b) {
    const float* q_rows = qkv + h.qkv_offset + b.begin * stride;
    const float* dy_rows = dy + h.y_offset + b.begin * h.y_stride;
    block_scores(h, b, {q_rows, stride}, k_transposed, p);
    block_scores(h, b, {dy_rows, h.y_stride}, v_transposed, dp);
    softmax_backward_rows(h, b, dy, y, saved, dropped, p, dp);
    const MatrixShape to_keys{b.keys, b.rows, h.size};
    small_product({p, h.row_stride(), true}, dy_rows, h.y_stride, dv, stride, to_keys, true);
    small_product({dp, h.row_stride(), true}, q_rows, stride, dk, stride, to_keys, true);
    small_product({dp, h.row_stride()}, k, h.size, dq + b.begin * stride, stride,
                  {b.rows, b.keys, h.size}, false);
  });
}

}  // namespace

std::int64_t attention_saved_count(AttentionShape s) { return 2 * s.batch * s.heads * s.time; }

void attention(ThreadTeam& team, const float* qkv, float* y, float* saved, AttentionShape s,
               const DropoutMask& mask) {
  team.for_each(s.batch * s.heads,
                [=, &mask](std::int64_t i) { head_forward(head_at(s, i), qkv, y, saved, mask); });
}

void attention_backward(ThreadTeam& team, const float* dy, const float* qkv, const float* y,
                        const float* saved, float* dqkv, AttentionShape s,
                        const DropoutMask& mask) {
  team.for_each(s.batch * s.heads, [=, &mask](std::int64_t i) {
    head_backward(head_at(s, i), dy, qkv, y, saved, dqkv, mask);
  });
}

}  // namespace zerolab::cpu
