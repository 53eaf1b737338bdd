#include "stages/model/gpt.h"

#include "stages/model/trained_uses.h"

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

const ModelOptions& checked(const ModelOptions& options) {
  if (!(options.dropout >= 0 && options.dropout < 1)) {
    bad_input("[model] the dropout is {}; it must be a probability below 1", options.dropout);
  }
  if (options.checkpoint_every < 0 || options.skip_block_every < 0) {
    bad_input(
        "[model] checkpoints every {} blocks and a skipped block every {} micro-batches were "
        "asked for; neither may be negative",
        options.checkpoint_every, options.skip_block_every);
  }
  return options;
}

}  // namespace

Gpt::Gpt(const GptConfig& config, ParameterLayout layout, const ModelOptions& options,
         Device& device, Stream& compute, Kernels& kernels, std::int64_t batch, std::int64_t time,
         DType dtype)
    : config_(checked(config, batch, time)),
      options_(checked(options)),
      batch_(batch),
      time_(time),
      tokens_(batch * time),
      layout_(std::move(layout)),
      final_norm_(gpt_final_norm_unit()),
      embedding_(gpt_embedding_unit(config)),
      compute_(compute),
      kernels_(kernels),
      activations_(config, options, batch, time, ActivationMemory(device, compute, dtype), kernels),
      evaluation_uses_(gpt_evaluation_uses(config)),
      training_uses_(trained_uses(gpt_training_uses(config, options, std::nullopt), layout_)) {
  for (std::int64_t layer = 0; options.skip_block_every > 0 && layer < config.layers; ++layer) {
    skipping_uses_.push_back(trained_uses(gpt_training_uses(config, options, layer), layout_));
  }
}

std::span<const Use> Gpt::training_uses(int micro_batch) const {
  const auto skipped = gpt_skipped_block(config_, options_, micro_batch);
  return skipped ? skipping_uses_[static_cast<std::size_t>(*skipped)] : training_uses_;
}

View Gpt::forward_backward(Stage& stage, const Batch& batch) {
  Visits visits(stage, layout_, training_uses(batch.micro_batch));
  const Pass pass{batch, true, gpt_skipped_block(config_, options_, batch.micro_batch)};
  forward(visits, pass);
  loss(pass);
  backward(visits, pass);
  return activations_.loss.view();
}

View Gpt::evaluate(Stage& stage, const Batch& batch) {
  Visits visits(stage, layout_, evaluation_uses_);
  const Pass pass{batch, false, std::nullopt};
  forward(visits, pass);
  loss(pass);
  return activations_.loss.view();
}

DropoutMask Gpt::mask(const Pass& pass, std::int64_t layer, Site site) const {
  return {pass.trains ? options_.dropout : 0.0, options_.seed, pass.batch.step,
          pass.batch.first_sample, static_cast<std::uint32_t>(8 * layer) + site};
}

void Gpt::loss(const Pass& pass) {
  kernels_.cross_entropy(compute_, activations_.logits.view(), pass.batch.targets,
                         activations_.loss.view(), tokens_, config_.vocabulary,
                         pass.batch.loss_scale * pass.batch.weight / static_cast<float>(tokens_),
                         pass.trains);
}

void Gpt::forward(Visits& visits, const Pass& pass) {
  const Batch& batch = pass.batch;
  require(batch.inputs.count == tokens_ && batch.targets.count == tokens_,
          "[model] a batch of {} inputs and {} targets came where {} tokens were agreed",
          batch.inputs.count, batch.targets.count, tokens_);
  const GptActivations& a = activations_;
  const std::int64_t C = config_.channels;
  visits.forward(embedding_, [&](const UnitTensors& w) {
    kernels_.embedding(compute_, batch.inputs, w[kTokenEmbedding], w[kPositionEmbedding],
                       a.embedding.view(), batch_, time_, C);
    const DropoutMask drop = mask(pass, 0, kAfterEmbedding);
    if (drop.probability > 0) {
      kernels_.dropout(compute_, a.embedding.view(), {}, a.embedding.view(), batch_, drop);
    }
  });
  for (std::int64_t layer = 0; layer < config_.layers; ++layer) {
    if (layer == pass.skipped) {
      bypass(layer);
      continue;
    }
    visits.forward(block_unit(layer),
                   [&](const UnitTensors& w) { forward_block(pass, layer, w, true); });
  }
  visits.forward(final_norm_, [&](const UnitTensors& w) {
    kernels_.layer_norm(compute_, a.residual(config_.layers), w[kFinalNormWeight],
                        w[kFinalNormBias], a.ln_f.view(), a.ln_f_mean.view(), a.ln_f_rstd.view(),
                        tokens_, C);
  });
  visits.forward(embedding_, [&](const UnitTensors& w) {
    kernels_.head(compute_, a.ln_f.view(), w[kTokenEmbedding], a.logits.view(),
                  {tokens_, C, config_.vocabulary});
  });
}

void Gpt::bypass(std::int64_t layer) {
  kernels_.copy(compute_, activations_.residual(layer), activations_.residual(layer + 1));
}

void Gpt::backward(Visits& visits, const Pass& pass) {
  const GptActivations& a = activations_;
  const std::int64_t C = config_.channels;
  visits.backward(embedding_, [&](const UnitTensors& w, const UnitTensors& dw) {
    const View d_logits = a.logits.view();
    const MatrixShape shape{tokens_, C, config_.vocabulary};
    kernels_.head_backward_input(compute_, d_logits, w[kTokenEmbedding], a.d_narrow.view(), shape);
    kernels_.head_backward_weight(compute_, d_logits, a.ln_f.view(), dw[kTokenEmbedding], shape);
  });
  visits.backward(final_norm_, [&](const UnitTensors& w, const UnitTensors& dw) {
    kernels_.layer_norm_backward(compute_, a.d_narrow.view(), a.residual(config_.layers),
                                 w[kFinalNormWeight], a.ln_f_mean.view(), a.ln_f_rstd.view(), {},
                                 a.d_residual.view(), dw[kFinalNormWeight], dw[kFinalNormBias],
                                 tokens_, C);
  });
  const std::vector<GptSegment> segments = gpt_segments(config_, options_);
  for (std::size_t s = segments.size(); s-- > 0 && !visits.finished();) {
    if (options_.checkpoint_every > 0) recompute(visits, pass, segments[s]);
    for (std::int64_t layer = segments[s].end; layer-- > segments[s].begin && !visits.finished();) {
      if (layer == pass.skipped) continue;
      visits.backward(block_unit(layer), [&](const UnitTensors& w, const UnitTensors& dw) {
        backward_block(pass, layer, w, dw);
      });
    }
  }
  if (visits.finished()) return;
  visits.backward(embedding_, [&](const UnitTensors&, const UnitTensors& dw) {
    const View d_embedding = a.d_residual.view();
    const DropoutMask drop = mask(pass, 0, kAfterEmbedding);
    if (drop.probability > 0) {
      kernels_.dropout(compute_, d_embedding, {}, d_embedding, batch_, drop);
    }
    kernels_.embedding_backward(compute_, pass.batch.inputs, d_embedding, dw[kTokenEmbedding],
                                dw[kPositionEmbedding], batch_, time_, C);
  });
}

void Gpt::recompute(Visits& visits, const Pass& pass, const GptSegment& segment) {
  for (std::int64_t layer = segment.begin; layer < segment.end; ++layer) {
    // What the segment hands on is still there.
    const bool whole = layer + 1 < segment.end;
    if (layer == pass.skipped) {
      if (whole) bypass(layer);
      continue;
    }
    visits.recompute(block_unit(layer),
                     [&](const UnitTensors& w) { forward_block(pass, layer, w, whole); });
  }
}

}  // namespace zerolab
