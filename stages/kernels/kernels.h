/// \file
/// Every computation on device memory, one declaration an operation. A back end implements this
/// class; stages, optimizers and models call it and never touch memory themselves.
///
/// Letters: B sequences, T positions, C channels, V vocabulary, NH heads; M, K, N matrix sizes.
/// Matrices are row-major and packed; `w` of a linear layer is (K, N) = (in, out), as GPT-2's
/// Conv1D. "x += …" accumulates, everything else overwrites. Results do not depend on the number of
/// threads.
#pragma once

#include <cstdint>
#include <vector>

#include "stages/core/view.h"
#include "stages/device/stream.h"

namespace zerolab {

/// y(M,N) = x(M,K) · w(K,N)
struct MatrixShape {
  std::int64_t m = 0, k = 0, n = 0;
};

struct AttentionShape {
  std::int64_t batch = 0, time = 0, heads = 0, head_size = 0;
};

/// Which elements of an activation a dropout keeps (Srivastava et al. 2014). Element e of global
/// sample s is dropped where word e mod 4 of Philox with counter (⌊e/4⌋ low, ⌊e/4⌋ high, s, site)
/// and key (seed low, seed high + step) is below probability · 2³²: who computes it, when and how
/// often does not matter, so that nothing is stored and recomputation draws the same mask.
struct DropoutMask {
  double probability = 0;  ///< of being dropped, in [0, 1); 0 keeps everything
  std::uint64_t seed = 0;
  std::int64_t step = 0;          ///< of training, from 1
  std::int64_t first_sample = 0;  ///< number in the step's global batch; the next ones follow
  std::uint32_t site = 0;         ///< layer · 8 + place in the layer
};

/// A run of elements of one tensor inside a slice that an optimizer or a hash walks.
struct Segment {
  int tensor = 0;                 ///< index in the layout
  std::int64_t tensor_begin = 0;  ///< canonical element index in the tensor
  std::int64_t flat_begin = 0;    ///< offset in the slice's own view
  std::int64_t count = 0;
  int group = 0;  ///< of parameters that share a learning rate and a weight decay (GroupRule)
};

/// The groups that every model has: what does not decay, and what decays by the optimizer's
/// weight decay (matrices). Groups of the user's own follow.
inline constexpr int kPlainGroup = 0;
inline constexpr int kDecayedGroup = 1;
inline constexpr int kFirstOwnGroup = 2;

/// What a group has of its own.
struct GroupRule {
  float rate = 1;  ///< times the rule's learning rate
  float weight_decay = 0;
};

/// torch.optim.AdamW's rule; `step` counts from 1. `groups[i]` is group kFirstOwnGroup + i.
struct AdamWRule {
  float learning_rate = 0, beta1 = 0.9F, beta2 = 0.999F, epsilon = 1e-8F, weight_decay = 0;
  std::int64_t step = 1;
  std::vector<GroupRule> groups = {};
};

/// torch.optim.SGD's rule (dampening 0, no Nesterov); the first step sets the momentum buffer to
/// the gradient.
struct SgdRule {
  float learning_rate = 0, momentum = 0, weight_decay = 0;
  std::int64_t step = 1;
  std::vector<GroupRule> groups = {};
};

/// A step along a direction that is known already; the decay is decoupled from it.
struct DirectionRule {
  float learning_rate = 0, weight_decay = 0;
  std::vector<GroupRule> groups = {};
};

/// All groups of a rule, by number.
template <class Rule>
std::vector<GroupRule> groups_of(const Rule& rule) {
  std::vector<GroupRule> all = {{1, 0}, {1, rule.weight_decay}};
  all.insert(all.end(), rule.groups.begin(), rule.groups.end());
  return all;
}

/// fp32 elements that `newton_schulz` needs beside an (m,n) matrix: X's successor, X·Xᵀ of the
/// shorter side, and its square.
constexpr std::int64_t newton_schulz_scratch(std::int64_t m, std::int64_t n) {
  const std::int64_t shorter = m < n ? m : n;
  return m * n + 2 * shorter * shorter;
}

class Kernels {
 public:
  virtual ~Kernels() = default;

  // ---- moving and adding ------------------------------------------------------------------
  virtual void zero(Stream&, View dst) = 0;
  virtual void copy(Stream&, View src, View dst) = 0;     ///< same dtype and count
  virtual void cast(Stream&, View src, View dst) = 0;     ///< to dst's dtype, round to nearest even
  virtual void add(Stream&, View src, View dst) = 0;      ///< dst += src in fp32, rounded once
  virtual void fill(Stream&, View dst, float value) = 0;  ///< fp32, bf16 or fp16
  /// Copies `bytes` now from the host; the source may change after the call returns.
  virtual void upload(Stream&, const void* src, std::int64_t bytes, View dst) = 0;
  /// Copies to the host; `dst` is valid once the stream has been synchronised.
  virtual void download(Stream&, View src, void* dst) = 0;
  /// The same for fp32 values on the host's side: rounded to dst's type on the way in, exact on the
  /// way out. fp32, bf16 or fp16.
  virtual void upload_fp32(Stream&, const float* src, View dst) = 0;
  virtual void download_fp32(Stream&, View src, float* dst) = 0;

  // ---- random numbers ---------------------------------------------------------------------
  /// dst[i] = deviation · N(0,1) drawn by Philox from (seed, stream_id, first_index + i): the value
  /// of an element does not depend on who computes it.
  virtual void normal(Stream&, View dst, float deviation, std::uint64_t seed,
                      std::uint64_t stream_id, std::int64_t first_index) = 0;

  // ---- order-free sums and fingerprints ---------------------------------------------------
  /// out(int32,1) = max(out, max over segments of the bits of |x|); NaN and inf are maxima.
  virtual void max_magnitude(Stream&, View x, const std::vector<Segment>&, View out) = 0;
  /// sums(fp64, 3) += the folds of Σ x² (pre-rounded reproducible sum, Demmel and Nguyen). The fold
  /// constants follow from the largest of `maxima` (int32, any count) and the global element count,
  /// so that every partial sum is exact and any cut gives the same bits.
  virtual void sum_of_squares(Stream&, View x, const std::vector<Segment>&, View maxima,
                              std::int64_t global_count, View sums) = 0;
  /// out(fp32, 2) = {norm of gradient · scale, factor}; factor = scale · min(1,
  /// max_norm/(norm+1e-6)), computed in fp64 and rounded once. `sums` holds `parts` × 3 fp64 folds,
  /// added in rank order. max_norm <= 0 means no clipping. A non-finite maximum gives a NaN norm
  /// and factor.
  virtual void norm_and_factor(Stream&, View maxima, View sums, int parts, double scale,
                               double max_norm, View out) = 0;
  /// The same for each tensor apart, indexed by Segment::tensor: out(int32, tensors) and
  /// sums(fp64, tensors × 3). `largest_count` bounds the elements of any tensor.
  virtual void tensor_maxima(Stream&, View x, const std::vector<Segment>&, View out) = 0;
  virtual void tensor_sums(Stream&, View x, const std::vector<Segment>&, View maxima,
                           std::int64_t largest_count, View sums) = 0;
  /// out(int32, n)[i] = the largest of maxima(int32, parts × n)[·][i]
  virtual void combine_maxima(Stream&, View maxima, int parts, View out) = 0;
  /// ratios(fp32, tensors) = ‖w‖ / ‖u‖, or 1 where either is 0. `sums` holds, `parts` times, the
  /// folds of w's tensors, then of u's; added in rank order.
  virtual void trust_ratios(Stream&, View sums, int parts, View ratios) = 0;
  /// out(uint64)[segment.tensor] += Σ mix(canonical index, bit pattern) over the tensor's elements:
  /// commutative, so the sum over owners is the same for every cut.
  virtual void fingerprint(Stream&, View x, const std::vector<Segment>&, View out) = 0;

  // ---- optimizers -------------------------------------------------------------------------
  /// Element-wise on the segments only. The gradient is multiplied by factor[0] while it is read; a
  /// factor that is not finite changes nothing, so that an overflow reaches no state.
  /// p, m, v: fp32, g: fp32, bf16 or fp16; all indexed by Segment::flat_begin.
  virtual void adamw(Stream&, View p, View g, View m, View v, View factor, const AdamWRule&,
                     const std::vector<Segment>&) = 0;
  virtual void sgd(Stream&, View p, View g, View momentum, View factor, const SgdRule&,
                   const std::vector<Segment>&) = 0;
  /// LAMB's direction (You et al. 2020, algorithm 2): updates m and v as AdamW does, and
  /// u = m̂ / (√v̂ + ε) + weight_decay·p. The rule's learning rate is not used.
  virtual void lamb_direction(Stream&, View p, View g, View m, View v, View u, View factor,
                              const AdamWRule&, const std::vector<Segment>&) = 0;
  /// momentum = β·momentum + g·factor; u = g·factor + β·momentum (Nesterov, as in Muon).
  virtual void nesterov_direction(Stream&, View g, View momentum, View u, View factor, float beta,
                                  const std::vector<Segment>&) = 0;
  /// p = p·(1 − learning_rate·weight_decay) − learning_rate·scales(fp32)[segment.tensor]·u, unless
  /// the factor of this step is not finite.
  virtual void step_along(Stream&, View p, View u, View scales, View factor, const DirectionRule&,
                          const std::vector<Segment>&) = 0;
  /// x(m,n) becomes nearly orthogonal: X = x / (‖x‖ + 1e-7), then five times
  /// X = aX + (bA + cA²)X with A = X·Xᵀ of the shorter side and a, b, c = 3.4445, −4.7750, 2.0315
  /// (Jordan et al. 2024, Muon): U·Vᵀ of x = U·S·Vᵀ up to singular values of 0.7 to 1.2.
  virtual void newton_schulz(Stream&, View x, View scratch, std::int64_t m, std::int64_t n) = 0;

  // ---- linear layers ----------------------------------------------------------------------
  /// y = x·w + b; an empty b is zero.
  virtual void linear(Stream&, View x, View w, View b, View y, MatrixShape) = 0;
  /// y = residual + x·w + b
  virtual void linear_residual(Stream&, View x, View w, View b, View residual, View y,
                               MatrixShape) = 0;
  /// pre = x·w + b; y = gelu(pre) (tanh form, GPT-2's "gelu_new")
  virtual void linear_gelu(Stream&, View x, View w, View b, View pre, View y, MatrixShape) = 0;
  /// dx(M,K) = dy(M,N) · wᵀ
  virtual void linear_backward_input(Stream&, View dy, View w, View dx, MatrixShape) = 0;
  /// dpre(M,K) = gelu'(pre) ⊙ (dy · wᵀ), pre (M,K)
  virtual void linear_backward_input_gelu(Stream&, View dy, View w, View pre, View dpre,
                                          MatrixShape) = 0;
  /// dw += xᵀ·dy; db += column sums of dy; either may be empty and is then left out
  virtual void linear_backward_weight(Stream&, View x, View dy, View dw, View db, MatrixShape) = 0;
  /// y(M,N) = x(M,K) · wᵀ with w (N,K): the tied output head (logits = x · wteᵀ).
  virtual void head(Stream&, View x, View w, View y, MatrixShape) = 0;
  /// dx(M,K) = dy(M,N) · w(N,K)
  virtual void head_backward_input(Stream&, View dy, View w, View dx, MatrixShape) = 0;
  /// dw(N,K) += dyᵀ · x, unless dw is empty
  virtual void head_backward_weight(Stream&, View dy, View x, View dw, MatrixShape) = 0;

  // ---- the rest of GPT-2 ------------------------------------------------------------------
  /// y(B,T,C) = wte[tokens] + wpe[0..T); tokens int32 (B,T)
  virtual void embedding(Stream&, View tokens, View wte, View wpe, View y, std::int64_t B,
                         std::int64_t T, std::int64_t C) = 0;
  /// dwte[tokens] += dy, in token order; dwpe[0..T) += dy; either may be empty
  virtual void embedding_backward(Stream&, View tokens, View dy, View dwte, View dwpe,
                                  std::int64_t B, std::int64_t T, std::int64_t C) = 0;
  /// Rows of C; eps 1e-5; mean and rstd (rows) are kept for backward.
  virtual void layer_norm(Stream&, View x, View w, View b, View y, View mean, View rstd,
                          std::int64_t rows, std::int64_t C) = 0;
  /// dx = carry + backward of the norm (an empty carry is zero; carry may be dx); dw and db
  /// += their gradients, and may be empty
  virtual void layer_norm_backward(Stream&, View dy, View x, View w, View mean, View rstd,
                                   View carry, View dx, View dw, View db, std::int64_t rows,
                                   std::int64_t C) = 0;
  /// Elements of `saved` that attention keeps from forward for backward.
  virtual std::int64_t attention_saved_count(AttentionShape) const = 0;
  /// Causal self-attention: qkv (B,T,3C) -> y (B,T,C), C = NH·head_size. The probabilities are
  /// dropped as the mask says; element (head, query, key) of a sample has number
  /// (head·T + query)·T + key.
  virtual void attention(Stream&, View qkv, View y, View saved, AttentionShape,
                         const DropoutMask&) = 0;
  virtual void attention_backward(Stream&, View dy, View qkv, View y, View saved, View dqkv,
                                  AttentionShape, const DropoutMask&) = 0;
  void attention(Stream& stream, View qkv, View y, View saved, AttentionShape shape) {
    attention(stream, qkv, y, saved, shape, {});
  }
  void attention_backward(Stream& stream, View dy, View qkv, View y, View saved, View dqkv,
                          AttentionShape shape) {
    attention_backward(stream, dy, qkv, y, saved, dqkv, shape, {});
  }
  /// y = residual + m ⊙ x, where m is 1/(1 − probability), rounded to fp32, for kept elements and 0
  /// for dropped ones, and an empty residual is zero. x holds `samples` samples of equal size,
  /// whose elements are numbered from 0; y may be x or the residual. Backward is the same call on
  /// the gradient.
  virtual void dropout(Stream&, View x, View residual, View y, std::int64_t samples,
                       const DropoutMask&) = 0;

  // ---- losses -----------------------------------------------------------------------------
  /// loss(fp64,1) = Σ over rows of −log softmax(logits)[target], rows summed in order in fp64.
  /// With `gradient`, logits become (softmax − onehot)·scale in place. A negative target is ignored
  /// (no loss, zero gradient).
  virtual void cross_entropy(Stream&, View logits, View targets, View loss, std::int64_t rows,
                             std::int64_t V, float scale, bool gradient) = 0;
  /// loss(fp64,1) = Σ (prediction − target)²; with a non-empty dprediction: 2·scale·(difference).
  virtual void squared_error(Stream&, View prediction, View target, View dprediction, View loss,
                             float scale) = 0;
};

}  // namespace zerolab
