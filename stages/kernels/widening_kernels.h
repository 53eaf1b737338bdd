/// \file
/// A model's operations on 16-bit operands, computed in fp32.
#pragma once

#include "stages/device/device.h"
#include "stages/kernels/forwarding_kernels.h"

namespace zerolab {

/// Widens 16-bit operands of a model's operations into fp32 scratch, computes there, and rounds
/// each result once. fp32 operands are used where they lie, so that a weight's gradient may be kept
/// in fp32 while everything else has 16 bits. A back end whose units read 16-bit operands has no
/// need of it.
class WideningKernels final : public ForwardingKernels {
 public:
  /// `scratch`: elements that the largest operation needs (activation_formula.h). `inner` and
  /// `device` outlive this; operations run on `compute` only.
  WideningKernels(Kernels& inner, Device& device, Stream& compute, std::int64_t scratch);

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

  /// Elements of scratch that the largest operation so far has used.
  std::int64_t used() const { return used_; }

  /// Scratch elements of an operand of `count` elements.
  static constexpr std::int64_t padded(std::int64_t count) { return round_up(count, 16); }

 private:
  class Operands;

  Buffer scratch_;
  std::int64_t used_ = 0;
};

}  // namespace zerolab
