#include "stages/model/gpt.h"

namespace zerolab {

namespace {

const GptConfig& checked(const GptConfig& config, std::int64_t batch, std::int64_t time) {
  validate(config);
  if (batch < 1) bad_input("[model] the micro-batch is {} sequences; it must be at least 1", batch);
  if (time < 1 || time > config.max_time) {
    bad_input("[model] sequences of {} tokens do not fit the model; choose 1 to {}", time,
              config.max_time);
  }
  return config;
}

}  // namespace

Gpt::Gpt(const GptConfig& config, Device& device, Stream& compute, Kernels& kernels,
         std::int64_t batch, std::int64_t time, DType dtype)
    : config_(checked(config, batch, time)),
      batch_(batch),
      time_(time),
      tokens_(batch * time),
      layout_(gpt_layout(config)),
      final_norm_(0),
      embedding_(static_cast<UnitId>(config.layers) + 1),
      compute_(compute),
      kernels_(kernels),
      activations_(config, batch, time, device, compute, kernels, dtype) {
  const auto add = [](std::vector<Use>& uses, UnitId unit, Phase phase, bool reads,
                      bool completes) {
    uses.push_back({unit, phase, reads, completes});
  };
  add(evaluation_uses_, embedding_, Phase::kForward, true, false);
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    add(evaluation_uses_, block_unit(layer), Phase::kForward, true, false);
  }
  add(evaluation_uses_, final_norm_, Phase::kForward, true, false);
  add(evaluation_uses_, embedding_, Phase::kForward, true, false);

  training_uses_ = evaluation_uses_;
  add(training_uses_, embedding_, Phase::kBackward, true, false);
  add(training_uses_, final_norm_, Phase::kBackward, true, true);
  for (std::int64_t layer = config.layers - 1; layer >= 0; --layer) {
    add(training_uses_, block_unit(layer), Phase::kBackward, true, true);
  }
  add(training_uses_, embedding_, Phase::kBackward, false, true);
}

UnitId Gpt::block_unit(std::int64_t layer) const {
  return static_cast<UnitId>(config_.layers - layer);
}

View Gpt::block_input(std::size_t layer) const {
  return layer == 0 ? activations_.embedding.view() : activations_.blocks[layer - 1].output.view();
}

View Gpt::forward_backward(Stage& stage, const Batch& batch) {
  Visits visits(stage, layout_, training_uses_);
  forward(visits, batch);
  loss(batch, true);
  backward(visits, batch);
  return activations_.loss.view();
}

View Gpt::evaluate(Stage& stage, const Batch& batch) {
  Visits visits(stage, layout_, evaluation_uses_);
  forward(visits, batch);
  loss(batch, false);
  return activations_.loss.view();
}

void Gpt::loss(const Batch& batch, bool gradient) {
  kernels_.cross_entropy(compute_, activations_.logits.view(), batch.targets,
                         activations_.loss.view(), tokens_, config_.vocabulary,
                         batch.loss_scale / static_cast<float>(tokens_), gradient);
}

void Gpt::forward(Visits& visits, const Batch& batch) {
  require(batch.inputs.count == tokens_ && batch.targets.count == tokens_,
          "[model] a batch of {} inputs and {} targets came where {} tokens were agreed",
          batch.inputs.count, batch.targets.count, tokens_);
  const GptActivations& a = activations_;
  const std::int64_t C = config_.channels;
  visits.forward(embedding_, [&](const UnitTensors& w) {
    kernels_.embedding(compute_, batch.inputs, w[kTokenEmbedding], w[kPositionEmbedding],
                       a.embedding.view(), batch_, time_, C);
  });
  for (std::size_t layer = 0; layer < a.blocks.size(); ++layer) {
    visits.forward(block_unit(static_cast<std::int64_t>(layer)),
                   [&](const UnitTensors& w) { forward_block(layer, w); });
  }
  visits.forward(final_norm_, [&](const UnitTensors& w) {
    kernels_.layer_norm(compute_, block_input(a.blocks.size()), w[kFinalNormWeight],
                        w[kFinalNormBias], a.ln_f.view(), a.ln_f_mean.view(), a.ln_f_rstd.view(),
                        tokens_, C);
  });
  visits.forward(embedding_, [&](const UnitTensors& w) {
    kernels_.head(compute_, a.ln_f.view(), w[kTokenEmbedding], a.logits.view(),
                  {tokens_, C, config_.vocabulary});
  });
}

void Gpt::forward_block(std::size_t layer, const UnitTensors& w) {
  const GptBlockActivations& a = activations_.blocks[layer];
  const std::int64_t C = config_.channels;
  const AttentionShape attention{batch_, time_, config_.heads, C / config_.heads};
  const View input = block_input(layer);

  kernels_.layer_norm(compute_, input, w[kLn1Weight], w[kLn1Bias], a.ln_1.view(),
                      a.ln_1_mean.view(), a.ln_1_rstd.view(), tokens_, C);
  kernels_.linear(compute_, a.ln_1.view(), w[kAttentionWeight], w[kAttentionBias], a.qkv.view(),
                  {tokens_, C, 3 * C});
  kernels_.attention(compute_, a.qkv.view(), a.attention.view(), a.attention_saved.view(),
                     attention);
  kernels_.linear_residual(compute_, a.attention.view(), w[kAttentionProjectionWeight],
                           w[kAttentionProjectionBias], input, a.middle.view(), {tokens_, C, C});

  kernels_.layer_norm(compute_, a.middle.view(), w[kLn2Weight], w[kLn2Bias], a.ln_2.view(),
                      a.ln_2_mean.view(), a.ln_2_rstd.view(), tokens_, C);
  kernels_.linear_gelu(compute_, a.ln_2.view(), w[kFcWeight], w[kFcBias], a.fc_before_gelu.view(),
                       a.fc.view(), {tokens_, C, 4 * C});
  kernels_.linear_residual(compute_, a.fc.view(), w[kFcProjectionWeight], w[kFcProjectionBias],
                           a.middle.view(), a.output.view(), {tokens_, 4 * C, C});
}

void Gpt::backward(Visits& visits, const Batch& batch) {
  const GptActivations& a = activations_;
  const std::int64_t C = config_.channels;
  visits.backward(embedding_, [&](const UnitTensors& w, const UnitTensors& dw) {
    const View d_logits = a.logits.view();
    const MatrixShape shape{tokens_, C, config_.vocabulary};
    kernels_.head_backward_input(compute_, d_logits, w[kTokenEmbedding], a.d_narrow.view(), shape);
    kernels_.head_backward_weight(compute_, d_logits, a.ln_f.view(), dw[kTokenEmbedding], shape);
  });
  visits.backward(final_norm_, [&](const UnitTensors& w, const UnitTensors& dw) {
    kernels_.layer_norm_backward(compute_, a.d_narrow.view(), block_input(a.blocks.size()),
                                 w[kFinalNormWeight], a.ln_f_mean.view(), a.ln_f_rstd.view(), {},
                                 a.d_residual.view(), dw[kFinalNormWeight], dw[kFinalNormBias],
                                 tokens_, C);
  });
  for (std::size_t layer = a.blocks.size(); layer-- > 0;) {
    visits.backward(
        block_unit(static_cast<std::int64_t>(layer)),
        [&](const UnitTensors& w, const UnitTensors& dw) { backward_block(layer, w, dw); });
  }
  visits.backward(embedding_, [&](const UnitTensors&, const UnitTensors& dw) {
    kernels_.embedding_backward(compute_, batch.inputs, a.d_residual.view(), dw[kTokenEmbedding],
                                dw[kPositionEmbedding], batch_, time_, C);
  });
}

// `d_residual` comes in as the gradient of the block's output and leaves as that of its input.
void Gpt::backward_block(std::size_t layer, const UnitTensors& w, const UnitTensors& dw) {
  const GptBlockActivations& a = activations_.blocks[layer];
  const std::int64_t C = config_.channels;
  const AttentionShape attention{batch_, time_, config_.heads, C / config_.heads};
  const View d_residual = activations_.d_residual.view();
  const View d_narrow = activations_.d_narrow.view();
  const View d_fc = activations_.d_wide.view();
  const View d_qkv = activations_.d_wide.slice(0, tokens_ * 3 * C);

  kernels_.linear_backward_weight(compute_, a.fc.view(), d_residual, dw[kFcProjectionWeight],
                                  dw[kFcProjectionBias], {tokens_, 4 * C, C});
  kernels_.linear_backward_input_gelu(compute_, d_residual, w[kFcProjectionWeight],
                                      a.fc_before_gelu.view(), d_fc, {tokens_, 4 * C, C});
  kernels_.linear_backward_weight(compute_, a.ln_2.view(), d_fc, dw[kFcWeight], dw[kFcBias],
                                  {tokens_, C, 4 * C});
  kernels_.linear_backward_input(compute_, d_fc, w[kFcWeight], d_narrow, {tokens_, C, 4 * C});
  kernels_.layer_norm_backward(compute_, d_narrow, a.middle.view(), w[kLn2Weight],
                               a.ln_2_mean.view(), a.ln_2_rstd.view(), d_residual, d_residual,
                               dw[kLn2Weight], dw[kLn2Bias], tokens_, C);

  kernels_.linear_backward_weight(compute_, a.attention.view(), d_residual,
                                  dw[kAttentionProjectionWeight], dw[kAttentionProjectionBias],
                                  {tokens_, C, C});
  kernels_.linear_backward_input(compute_, d_residual, w[kAttentionProjectionWeight], d_narrow,
                                 {tokens_, C, C});
  kernels_.attention_backward(compute_, d_narrow, a.qkv.view(), a.attention.view(),
                              a.attention_saved.view(), d_qkv, attention);
  kernels_.linear_backward_weight(compute_, a.ln_1.view(), d_qkv, dw[kAttentionWeight],
                                  dw[kAttentionBias], {tokens_, C, 3 * C});
  kernels_.linear_backward_input(compute_, d_qkv, w[kAttentionWeight], d_narrow,
                                 {tokens_, C, 3 * C});
  kernels_.layer_norm_backward(compute_, d_narrow, block_input(layer), w[kLn1Weight],
                               a.ln_1_mean.view(), a.ln_1_rstd.view(), d_residual, d_residual,
                               dw[kLn1Weight], dw[kLn1Bias], tokens_, C);
}

}  // namespace zerolab
