/// \file
/// Kernels that hand every call on to others: the base of decorators.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "stages/kernels/kernels.h"

namespace zerolab {

/// Derive and override the operations of interest.
class ForwardingKernels : public Kernels {
 public:
  explicit ForwardingKernels(std::unique_ptr<Kernels> inner)
      : owned_(std::move(inner)), inner_(*owned_) {}
  /// `inner` outlives this.
  explicit ForwardingKernels(Kernels& inner) : inner_(inner) {}

  void zero(Stream& stream, View dst) override { inner_.zero(stream, dst); }
  void copy(Stream& stream, View src, View dst) override { inner_.copy(stream, src, dst); }
  void cast(Stream& stream, View src, View dst) override { inner_.cast(stream, src, dst); }
  void add(Stream& stream, View src, View dst) override { inner_.add(stream, src, dst); }
  void fill(Stream& stream, View dst, float value) override { inner_.fill(stream, dst, value); }
  void upload(Stream& stream, const void* src, std::int64_t bytes, View dst) override {
    inner_.upload(stream, src, bytes, dst);
  }
  void download(Stream& stream, View src, void* dst) override { inner_.download(stream, src, dst); }
  void upload_fp32(Stream& stream, const float* src, View dst) override {
    inner_.upload_fp32(stream, src, dst);
  }
  void download_fp32(Stream& stream, View src, float* dst) override {
    inner_.download_fp32(stream, src, dst);
  }
  void normal(Stream& stream, View dst, float deviation, std::uint64_t seed,
              std::uint64_t stream_id, std::int64_t first_index) override {
    inner_.normal(stream, dst, deviation, seed, stream_id, first_index);
  }
  void max_magnitude(Stream& stream, View x, const std::vector<Segment>& segments,
                     View out) override {
    inner_.max_magnitude(stream, x, segments, out);
  }
  void sum_of_squares(Stream& stream, View x, const std::vector<Segment>& segments, View maxima,
                      std::int64_t global_count, View sums) override {
    inner_.sum_of_squares(stream, x, segments, maxima, global_count, sums);
  }
  void norm_and_factor(Stream& stream, View maxima, View sums, int parts, double scale,
                       double max_norm, View out) override {
    inner_.norm_and_factor(stream, maxima, sums, parts, scale, max_norm, out);
  }
  void tensor_maxima(Stream& stream, View x, const std::vector<Segment>& segments,
                     View out) override {
    inner_.tensor_maxima(stream, x, segments, out);
  }
  void tensor_sums(Stream& stream, View x, const std::vector<Segment>& segments, View maxima,
                   std::int64_t largest_count, View sums) override {
    inner_.tensor_sums(stream, x, segments, maxima, largest_count, sums);
  }
  void combine_maxima(Stream& stream, View maxima, int parts, View out) override {
    inner_.combine_maxima(stream, maxima, parts, out);
  }
  void trust_ratios(Stream& stream, View sums, int parts, View ratios) override {
    inner_.trust_ratios(stream, sums, parts, ratios);
  }
  void fingerprint(Stream& stream, View x, const std::vector<Segment>& segments,
                   View out) override {
    inner_.fingerprint(stream, x, segments, out);
  }
  void adamw(Stream& stream, View p, View g, View m, View v, View factor, const AdamWRule& rule,
             const std::vector<Segment>& segments) override {
    inner_.adamw(stream, p, g, m, v, factor, rule, segments);
  }
  void sgd(Stream& stream, View p, View g, View momentum, View factor, const SgdRule& rule,
           const std::vector<Segment>& segments) override {
    inner_.sgd(stream, p, g, momentum, factor, rule, segments);
  }
  void lamb_direction(Stream& stream, View p, View g, View m, View v, View u, View factor,
                      const AdamWRule& rule, const std::vector<Segment>& segments) override {
    inner_.lamb_direction(stream, p, g, m, v, u, factor, rule, segments);
  }
  void nesterov_direction(Stream& stream, View g, View momentum, View u, View factor, float beta,
                          const std::vector<Segment>& segments) override {
    inner_.nesterov_direction(stream, g, momentum, u, factor, beta, segments);
  }
  void step_along(Stream& stream, View p, View u, View scales, View factor,
                  const DirectionRule& rule, const std::vector<Segment>& segments) override {
    inner_.step_along(stream, p, u, scales, factor, rule, segments);
  }
  void newton_schulz(Stream& stream, View x, View scratch, std::int64_t m,
                     std::int64_t n) override {
    inner_.newton_schulz(stream, x, scratch, m, n);
  }
  void linear(Stream& stream, View x, View w, View b, View y, MatrixShape shape) override {
    inner_.linear(stream, x, w, b, y, shape);
  }
  void linear_residual(Stream& stream, View x, View w, View b, View residual, View y,
                       MatrixShape shape) override {
    inner_.linear_residual(stream, x, w, b, residual, y, shape);
  }
  void linear_gelu(Stream& stream, View x, View w, View b, View pre, View y,
                   MatrixShape shape) override {
    inner_.linear_gelu(stream, x, w, b, pre, y, shape);
  }
  void linear_backward_input(Stream& stream, View dy, View w, View dx, MatrixShape shape) override {
    inner_.linear_backward_input(stream, dy, w, dx, shape);
  }
  void linear_backward_input_gelu(Stream& stream, View dy, View w, View pre, View dpre,
                                  MatrixShape shape) override {
    inner_.linear_backward_input_gelu(stream, dy, w, pre, dpre, shape);
  }
  void linear_backward_weight(Stream& stream, View x, View dy, View dw, View db,
                              MatrixShape shape) override {
    inner_.linear_backward_weight(stream, x, dy, dw, db, shape);
  }
  void head(Stream& stream, View x, View w, View y, MatrixShape shape) override {
    inner_.head(stream, x, w, y, shape);
  }
  void head_backward_input(Stream& stream, View dy, View w, View dx, MatrixShape shape) override {
    inner_.head_backward_input(stream, dy, w, dx, shape);
  }
  void head_backward_weight(Stream& stream, View dy, View x, View dw, MatrixShape shape) override {
    inner_.head_backward_weight(stream, dy, x, dw, shape);
  }
  void embedding(Stream& stream, View tokens, View wte, View wpe, View y, std::int64_t B,
                 std::int64_t T, std::int64_t C) override {
    inner_.embedding(stream, tokens, wte, wpe, y, B, T, C);
  }
  void embedding_backward(Stream& stream, View tokens, View dy, View dwte, View dwpe,
                          std::int64_t B, std::int64_t T, std::int64_t C) override {
    inner_.embedding_backward(stream, tokens, dy, dwte, dwpe, B, T, C);
  }
  void layer_norm(Stream& stream, View x, View w, View b, View y, View mean, View rstd,
                  std::int64_t rows, std::int64_t C) override {
    inner_.layer_norm(stream, x, w, b, y, mean, rstd, rows, C);
  }
  void layer_norm_backward(Stream& stream, View dy, View x, View w, View mean, View rstd,
                           View carry, View dx, View dw, View db, std::int64_t rows,
                           std::int64_t C) override {
    inner_.layer_norm_backward(stream, dy, x, w, mean, rstd, carry, dx, dw, db, rows, C);
  }
  std::int64_t attention_saved_count(AttentionShape shape) const override {
    return inner_.attention_saved_count(shape);
  }
  void attention(Stream& stream, View qkv, View y, View saved, AttentionShape shape,
                 const DropoutMask& mask) override {
    inner_.attention(stream, qkv, y, saved, shape, mask);
  }
  void attention_backward(Stream& stream, View dy, View qkv, View y, View saved, View dqkv,
                          AttentionShape shape, const DropoutMask& mask) override {
    inner_.attention_backward(stream, dy, qkv, y, saved, dqkv, shape, mask);
  }
  void dropout(Stream& stream, View x, View residual, View y, std::int64_t samples,
               const DropoutMask& mask) override {
    inner_.dropout(stream, x, residual, y, samples, mask);
  }
  void cross_entropy(Stream& stream, View logits, View targets, View loss, std::int64_t rows,
                     std::int64_t V, float scale, bool gradient) override {
    inner_.cross_entropy(stream, logits, targets, loss, rows, V, scale, gradient);
  }
  void squared_error(Stream& stream, View prediction, View target, View dprediction, View loss,
                     float scale) override {
    inner_.squared_error(stream, prediction, target, dprediction, loss, scale);
  }

 protected:
  Kernels& inner() { return inner_; }

 private:
  std::unique_ptr<Kernels> owned_;
  Kernels& inner_;
};

}  // namespace zerolab
