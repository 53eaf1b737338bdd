#include "stages/kernels/widening_kernels.h"

#include <algorithm>

namespace zerolab {

/// The operands of one operation: what is read is widened at once, what is written is rounded when
/// the operation has been launched.
class WideningKernels::Operands {
 public:
  Operands(WideningKernels& kernels, Stream& stream) : kernels_(kernels), stream_(stream) {}

  View in(View view) {
    const View wide = place_of(view);
    if (wide.data != view.data) kernels_.inner().cast(stream_, view, wide);
    return wide;
  }
  View out(View view) {
    const View wide = place_of(view);
    if (wide.data != view.data) narrowed_.push_back({wide, view});
    return wide;
  }
  View in_out(View view) {
    const View wide = in(view);
    if (wide.data != view.data) narrowed_.push_back({wide, view});
    return wide;
  }
  void round_results() {
    for (const auto& [wide, view] : narrowed_) kernels_.inner().cast(stream_, wide, view);
  }

 private:
  View place_of(View view) {
    if (view.empty() || (view.dtype != DType::kBFloat16 && view.dtype != DType::kFloat16)) {
      return view;
    }
    const View wide = kernels_.scratch_.slice(begin_, view.count);
    begin_ += padded(view.count);
    kernels_.used_ = std::max(kernels_.used_, begin_);
    return wide;
  }

  struct Narrowed {
    View wide, view;
  };
  WideningKernels& kernels_;
  Stream& stream_;
  std::vector<Narrowed> narrowed_;
  std::int64_t begin_ = 0;
};

WideningKernels::WideningKernels(Kernels& inner, Device& device, Stream& compute,
                                 std::int64_t scratch)
    : ForwardingKernels(inner),
      scratch_(device.allocate(DType::kFloat32, scratch, Category::kWorkspace, "widened operands",
                               compute)) {}

void WideningKernels::linear(Stream& stream, View x, View w, View b, View y, MatrixShape shape) {
  Operands o(*this, stream);
  inner().linear(stream, o.in(x), o.in(w), o.in(b), o.out(y), shape);
  o.round_results();
}

void WideningKernels::linear_residual(Stream& stream, View x, View w, View b, View residual, View y,
                                      MatrixShape shape) {
  Operands o(*this, stream);
  inner().linear_residual(stream, o.in(x), o.in(w), o.in(b), o.in(residual), o.out(y), shape);
  o.round_results();
}

void WideningKernels::linear_gelu(Stream& stream, View x, View w, View b, View pre, View y,
                                  MatrixShape shape) {
  Operands o(*this, stream);
  inner().linear_gelu(stream, o.in(x), o.in(w), o.in(b), o.out(pre), o.out(y), shape);
  o.round_results();
}

void WideningKernels::linear_backward_input(Stream& stream, View dy, View w, View dx,
                                            MatrixShape shape) {
  Operands o(*this, stream);
  inner().linear_backward_input(stream, o.in(dy), o.in(w), o.out(dx), shape);
  o.round_results();
}

void WideningKernels::linear_backward_input_gelu(Stream& stream, View dy, View w, View pre,
                                                 View dpre, MatrixShape shape) {
  Operands o(*this, stream);
  inner().linear_backward_input_gelu(stream, o.in(dy), o.in(w), o.in(pre), o.out(dpre), shape);
  o.round_results();
}

void WideningKernels::linear_backward_weight(Stream& stream, View x, View dy, View dw, View db,
                                             MatrixShape shape) {
  if (dw.empty() && db.empty()) return;  // frozen: nothing to widen for
  Operands o(*this, stream);
  inner().linear_backward_weight(stream, o.in(x), o.in(dy), o.in_out(dw), o.in_out(db), shape);
  o.round_results();
}

void WideningKernels::head(Stream& stream, View x, View w, View y, MatrixShape shape) {
  Operands o(*this, stream);
  inner().head(stream, o.in(x), o.in(w), o.out(y), shape);
  o.round_results();
}

void WideningKernels::head_backward_input(Stream& stream, View dy, View w, View dx,
                                          MatrixShape shape) {
  Operands o(*this, stream);
  inner().head_backward_input(stream, o.in(dy), o.in(w), o.out(dx), shape);
  o.round_results();
}

void WideningKernels::head_backward_weight(Stream& stream, View dy, View x, View dw,
                                           MatrixShape shape) {
  if (dw.empty()) return;  // frozen: nothing to widen for
  Operands o(*this, stream);
  inner().head_backward_weight(stream, o.in(dy), o.in(x), o.in_out(dw), shape);
  o.round_results();
}

void WideningKernels::embedding(Stream& stream, View tokens, View wte, View wpe, View y,
                                std::int64_t B, std::int64_t T, std::int64_t C) {
  Operands o(*this, stream);
  inner().embedding(stream, tokens, o.in(wte), o.in(wpe), o.out(y), B, T, C);
  o.round_results();
}

void WideningKernels::embedding_backward(Stream& stream, View tokens, View dy, View dwte, View dwpe,
                                         std::int64_t B, std::int64_t T, std::int64_t C) {
  if (dwte.empty() && dwpe.empty()) return;  // frozen: nothing to widen for
  Operands o(*this, stream);
  inner().embedding_backward(stream, tokens, o.in(dy), o.in_out(dwte), o.in_out(dwpe), B, T, C);
  o.round_results();
}

void WideningKernels::layer_norm(Stream& stream, View x, View w, View b, View y, View mean,
                                 View rstd, std::int64_t rows, std::int64_t C) {
  Operands o(*this, stream);
  inner().layer_norm(stream, o.in(x), o.in(w), o.in(b), o.out(y), mean, rstd, rows, C);
  o.round_results();
}

void WideningKernels::layer_norm_backward(Stream& stream, View dy, View x, View w, View mean,
                                          View rstd, View carry, View dx, View dw, View db,
                                          std::int64_t rows, std::int64_t C) {
  Operands o(*this, stream);
  inner().layer_norm_backward(stream, o.in(dy), o.in(x), o.in(w), mean, rstd, o.in(carry),
                              o.out(dx), o.in_out(dw), o.in_out(db), rows, C);
  o.round_results();
}

void WideningKernels::attention(Stream& stream, View qkv, View y, View saved, AttentionShape shape,
                                const DropoutMask& mask) {
  Operands o(*this, stream);
  inner().attention(stream, o.in(qkv), o.out(y), saved, shape, mask);
  o.round_results();
}

void WideningKernels::attention_backward(Stream& stream, View dy, View qkv, View y, View saved,
                                         View dqkv, AttentionShape shape, const DropoutMask& mask) {
  Operands o(*this, stream);
  inner().attention_backward(stream, o.in(dy), o.in(qkv), o.in(y), saved, o.out(dqkv), shape, mask);
  o.round_results();
}

void WideningKernels::dropout(Stream& stream, View x, View residual, View y, std::int64_t samples,
                              const DropoutMask& mask) {
  Operands o(*this, stream);
  inner().dropout(stream, o.in(x), o.in(residual), o.out(y), samples, mask);
  o.round_results();
}

void WideningKernels::cross_entropy(Stream& stream, View logits, View targets, View loss,
                                    std::int64_t rows, std::int64_t V, float scale, bool gradient) {
  Operands o(*this, stream);
  inner().cross_entropy(stream, gradient ? o.in_out(logits) : o.in(logits), targets, loss, rows, V,
                        scale, gradient);
  o.round_results();
}

void WideningKernels::squared_error(Stream& stream, View prediction, View target, View dprediction,
                                    View loss, float scale) {
  Operands o(*this, stream);
  inner().squared_error(stream, o.in(prediction), o.in(target), o.out(dprediction), loss, scale);
  o.round_results();
}

}  // namespace zerolab
