/// \file
/// The CPU's Kernels: every method checks sizes, declares what it touches, and launches the plain
/// function that does the work.
#pragma once

#include <functional>
#include <vector>

#include "stages/kernels/cpu/thread_team.h"
#include "stages/kernels/kernels.h"

namespace zerolab::cpu {

class CpuKernels final : public Kernels {
 public:
  explicit CpuKernels(int threads);

  void zero(Stream&, View dst) override;
  void copy(Stream&, View src, View dst) override;
  void cast(Stream&, View src, View dst) override;
  void add(Stream&, View src, View dst) override;
  void fill(Stream&, View dst, float value) override;
  void upload(Stream&, const void* src, std::int64_t bytes, View dst) override;
  void download(Stream&, View src, void* dst) override;
  void upload_fp32(Stream&, const float* src, View dst) override;
  void download_fp32(Stream&, View src, float* dst) override;

  void normal(Stream&, View dst, float deviation, std::uint64_t seed, std::uint64_t stream_id,
              std::int64_t first_index) override;

  void max_magnitude(Stream&, View x, const std::vector<Segment>&, View out) override;
  void sum_of_squares(Stream&, View x, const std::vector<Segment>&, View maxima,
                      std::int64_t global_count, View sums) override;
  void norm_and_factor(Stream&, View maxima, View sums, int parts, double scale, double max_norm,
                       View out) override;
  void tensor_maxima(Stream&, View x, const std::vector<Segment>&, View out) override;
  void tensor_sums(Stream&, View x, const std::vector<Segment>&, View maxima,
                   std::int64_t largest_count, View sums) override;
  void combine_maxima(Stream&, View maxima, int parts, View out) override;
  void trust_ratios(Stream&, View sums, int parts, View ratios) override;
  void fingerprint(Stream&, View x, const std::vector<Segment>&, View out) override;

  void adamw(Stream&, View p, View g, View m, View v, View factor, const AdamWRule&,
             const std::vector<Segment>&) override;
  void sgd(Stream&, View p, View g, View momentum, View factor, const SgdRule&,
           const std::vector<Segment>&) override;
  void lamb_direction(Stream&, View p, View g, View m, View v, View u, View factor,
                      const AdamWRule&, const std::vector<Segment>&) override;
  void nesterov_direction(Stream&, View g, View momentum, View u, View factor, float beta,
                          const std::vector<Segment>&) override;
  void step_along(Stream&, View p, View u, View scales, View factor, const DirectionRule&,
                  const std::vector<Segment>&) override;
  void newton_schulz(Stream&, View x, View scratch, std::int64_t m, std::int64_t n) override;

  void linear(Stream&, View x, View w, View b, View y, MatrixShape) override;
  void linear_residual(Stream&, View x, View w, View b, View residual, View y,
                       MatrixShape) override;
  void linear_gelu(Stream&, View x, View w, View b, View pre, View y, MatrixShape) override;
  void linear_backward_input(Stream&, View dy, View w, View dx, MatrixShape) override;
  void linear_backward_input_gelu(Stream&, View dy, View w, View pre, View dpre,
                                  MatrixShape) override;
  void linear_backward_weight(Stream&, View x, View dy, View dw, View db, MatrixShape) override;
  void head(Stream&, View x, View w, View y, MatrixShape) override;
  void head_backward_input(Stream&, View dy, View w, View dx, MatrixShape) override;
  void head_backward_weight(Stream&, View dy, View x, View dw, MatrixShape) override;

  void embedding(Stream&, View tokens, View wte, View wpe, View y, std::int64_t B, std::int64_t T,
                 std::int64_t C) override;
  void embedding_backward(Stream&, View tokens, View dy, View dwte, View dwpe, std::int64_t B,
                          std::int64_t T, std::int64_t C) override;
  void layer_norm(Stream&, View x, View w, View b, View y, View mean, View rstd, std::int64_t rows,
                  std::int64_t C) override;
  void layer_norm_backward(Stream&, View dy, View x, View w, View mean, View rstd, View carry,
                           View dx, View dw, View db, std::int64_t rows, std::int64_t C) override;
  std::int64_t attention_saved_count(AttentionShape) const override;
  void attention(Stream&, View qkv, View y, View saved, AttentionShape,
                 const DropoutMask&) override;
  void attention_backward(Stream&, View dy, View qkv, View y, View saved, View dqkv, AttentionShape,
                          const DropoutMask&) override;
  void dropout(Stream&, View x, View residual, View y, std::int64_t samples,
               const DropoutMask&) override;

  void cross_entropy(Stream&, View logits, View targets, View loss, std::int64_t rows,
                     std::int64_t V, float scale, bool gradient) override;
  void squared_error(Stream&, View prediction, View target, View dprediction, View loss,
                     float scale) override;

 private:
  /// The team for work on this stream: the compute stream has the helpers, every other stream only
  /// its own worker.
  ThreadTeam& team_for(const Stream& stream) { return stream.id() == 0 ? team_ : alone_; }

  ThreadTeam team_;
  ThreadTeam alone_{1};
};

/// Launches an operation; empty views are not declared.
void launch(Stream& stream, const char* name, std::vector<View> reads, std::vector<View> writes,
            std::function<void()> work);

/// The parts of `x` that the segments cover; neighbours are joined.
std::vector<View> covered(View x, const std::vector<Segment>& segments);

/// Adds `more` to what an operation declares.
inline void append(std::vector<View>& views, const std::vector<View>& more) {
  views.insert(views.end(), more.begin(), more.end());
}

/// \throws std::logic_error unless the view has `count` elements.
void require_count(const char* kernel, const char* what, View view, std::int64_t count);

/// The elements, or null for an empty view.
template <class T = float>
T* data_or_null(View view) {
  return view.empty() ? nullptr : view.as<T>();
}

}  // namespace zerolab::cpu
