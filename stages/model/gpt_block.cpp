// One transformer block of GPT-2, forward and backward.
#include "stages/model/gpt.h"

namespace zerolab {

void Gpt::drop_and_add(const Pass& pass, std::int64_t layer, Site site, View residual, View y) {
  kernels_.dropout(compute_, y, residual, y, batch_, mask(pass, layer, site));
}

View Gpt::undrop(const Pass& pass, std::int64_t layer, Site site, View d_output, View scratch) {
  const DropoutMask drop = mask(pass, layer, site);
  if (drop.probability == 0) return d_output;
  kernels_.dropout(compute_, d_output, {}, scratch, batch_, drop);
  return scratch;
}

// Without `whole`, only what backward needs: the output is kept elsewhere.
void Gpt::forward_block(const Pass& pass, std::int64_t layer, const UnitTensors& w, bool whole) {
  const GptBlockActivations& a = activations_.block(layer);
  const std::int64_t C = config_.channels;
  const AttentionShape attention{batch_, time_, config_.heads, C / config_.heads};
  const View input = activations_.residual(layer);
  const View output = activations_.residual(layer + 1);
  const bool drops = pass.trains && options_.dropout > 0;

  kernels_.layer_norm(compute_, input, w[kLn1Weight], w[kLn1Bias], a.ln_1.view(),
                      a.ln_1_mean.view(), a.ln_1_rstd.view(), tokens_, C);
  kernels_.linear(compute_, a.ln_1.view(), w[kAttentionWeight], w[kAttentionBias], a.qkv.view(),
                  {tokens_, C, 3 * C});
  kernels_.attention(compute_, a.qkv.view(), a.attention.view(), a.attention_saved.view(),
                     attention, mask(pass, layer, kProbabilities));
  if (drops) {
    kernels_.linear(compute_, a.attention.view(), w[kAttentionProjectionWeight],
                    w[kAttentionProjectionBias], a.middle.view(), {tokens_, C, C});
    drop_and_add(pass, layer, kAfterAttention, input, a.middle.view());
  } else {
    kernels_.linear_residual(compute_, a.attention.view(), w[kAttentionProjectionWeight],
                             w[kAttentionProjectionBias], input, a.middle.view(), {tokens_, C, C});
  }

  kernels_.layer_norm(compute_, a.middle.view(), w[kLn2Weight], w[kLn2Bias], a.ln_2.view(),
                      a.ln_2_mean.view(), a.ln_2_rstd.view(), tokens_, C);
  kernels_.linear_gelu(compute_, a.ln_2.view(), w[kFcWeight], w[kFcBias], a.fc_before_gelu.view(),
                       a.fc.view(), {tokens_, C, 4 * C});
  if (!whole) return;
  if (drops) {
    kernels_.linear(compute_, a.fc.view(), w[kFcProjectionWeight], w[kFcProjectionBias], output,
                    {tokens_, 4 * C, C});
    drop_and_add(pass, layer, kAfterMlp, a.middle.view(), output);
  } else {
    kernels_.linear_residual(compute_, a.fc.view(), w[kFcProjectionWeight], w[kFcProjectionBias],
                             a.middle.view(), output, {tokens_, 4 * C, C});
  }
}

// `d_residual` comes in as the gradient of the block's output and leaves as that of its input.
void Gpt::backward_block(const Pass& pass, std::int64_t layer, const UnitTensors& w,
                         const UnitTensors& dw) {
  backward_mlp(pass, layer, w, dw);
  backward_attention(pass, layer, w, dw);
}

void Gpt::backward_mlp(const Pass& pass, std::int64_t layer, const UnitTensors& w,
                       const UnitTensors& dw) {
  const GptBlockActivations& a = activations_.block(layer);
  const std::int64_t C = config_.channels;
  const View d_residual = activations_.d_residual.view();
  const View d_narrow = activations_.d_narrow.view();
  const View d_fc = activations_.d_wide.view();
  const View d_added = undrop(pass, layer, kAfterMlp, d_residual, d_narrow);

  kernels_.linear_backward_weight(compute_, a.fc.view(), d_added, dw[kFcProjectionWeight],
                                  dw[kFcProjectionBias], {tokens_, 4 * C, C});
  kernels_.linear_backward_input_gelu(compute_, d_added, w[kFcProjectionWeight],
                                      a.fc_before_gelu.view(), d_fc, {tokens_, 4 * C, C});
  kernels_.linear_backward_weight(compute_, a.ln_2.view(), d_fc, dw[kFcWeight], dw[kFcBias],
                                  {tokens_, C, 4 * C});
  kernels_.linear_backward_input(compute_, d_fc, w[kFcWeight], d_narrow, {tokens_, C, 4 * C});
  kernels_.layer_norm_backward(compute_, d_narrow, a.middle.view(), w[kLn2Weight],
                               a.ln_2_mean.view(), a.ln_2_rstd.view(), d_residual, d_residual,
                               dw[kLn2Weight], dw[kLn2Bias], tokens_, C);
}

void Gpt::backward_attention(const Pass& pass, std::int64_t layer, const UnitTensors& w,
                             const UnitTensors& dw) {
  const GptBlockActivations& a = activations_.block(layer);
  const std::int64_t C = config_.channels;
  const AttentionShape attention{batch_, time_, config_.heads, C / config_.heads};
  const View d_residual = activations_.d_residual.view();
  const View d_narrow = activations_.d_narrow.view();
  const View d_qkv = activations_.d_wide.slice(0, tokens_ * 3 * C);
  const View free = activations_.d_wide.slice(tokens_ * 3 * C, tokens_ * C);
  const View d_added = undrop(pass, layer, kAfterAttention, d_residual, free);

  kernels_.linear_backward_weight(compute_, a.attention.view(), d_added,
                                  dw[kAttentionProjectionWeight], dw[kAttentionProjectionBias],
                                  {tokens_, C, C});
  kernels_.linear_backward_input(compute_, d_added, w[kAttentionProjectionWeight], d_narrow,
                                 {tokens_, C, C});
  kernels_.attention_backward(compute_, d_narrow, a.qkv.view(), a.attention.view(),
                              a.attention_saved.view(), d_qkv, attention,
                              mask(pass, layer, kProbabilities));
  kernels_.linear_backward_weight(compute_, a.ln_1.view(), d_qkv, dw[kAttentionWeight],
                                  dw[kAttentionBias], {tokens_, C, 3 * C});
  kernels_.linear_backward_input(compute_, d_qkv, w[kAttentionWeight], d_narrow,
                                 {tokens_, C, 3 * C});
  kernels_.layer_norm_backward(compute_, d_narrow, activations_.residual(layer), w[kLn1Weight],
                               a.ln_1_mean.view(), a.ln_1_rstd.view(), d_residual, d_residual,
                               dw[kLn1Weight], dw[kLn1Bias], tokens_, C);
}

}  // namespace zerolab
