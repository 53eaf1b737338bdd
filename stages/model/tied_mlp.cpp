#include "stages/model/tied_mlp.h"

#include <cmath>

#include "stages/model/activation_memory.h"
#include "stages/model/trained_uses.h"

namespace zerolab {

namespace {

enum LayerTensor : int { kWeight, kBias };
constexpr std::int64_t kLargestWidth = 1 << 20;

std::int64_t checked_batch(std::int64_t batch) {
  if (batch < 1) bad_input("[model] the micro-batch is {} samples; it must be at least 1", batch);
  return batch;
}

}  // namespace

ParameterLayout tied_mlp_layout(const TiedMlpConfig& config) {
  const std::int64_t F = config.width;
  if (F < 1 || F > kLargestWidth) {
    bad_input("[model] the width of tied-mlp is {}; it must lie between 1 and {}", F,
              kLargestWidth);
  }
  const float deviation = 1.0F / std::sqrt(static_cast<float>(F));
  ParameterLayout layout;
  for (std::int64_t layer = kTiedMlpLayers - 2; layer >= 0; --layer) {
    const std::string name = fmt::format("layers.{}", layer);
    const bool hidden = layer > 0;  // the tie makes layer 0 the first and the last
    layout.add_unit(name, {{name + ".weight", {F, F}, Init::kNormal, deviation, true, hidden},
                           {name + ".bias", {F}, Init::kZeros, 0, false}});
  }
  return layout;
}

TiedMlp::TiedMlp(const TiedMlpConfig& config, ParameterLayout layout, Device& device,
                 Stream& compute, Kernels& kernels, std::int64_t batch, DType dtype)
    : config_(config),
      batch_(checked_batch(batch)),
      layout_(std::move(layout)),
      compute_(compute),
      kernels_(kernels) {
  const std::int64_t count = batch_ * config_.width;
  const ActivationMemory memory(device, compute, dtype);
  for (std::int64_t layer = 0; layer < kTiedMlpLayers; ++layer) {
    outputs_.push_back(memory.keep(fmt::format("output of layer {}", layer), count));
  }
  for (Buffer& gradient : gradients_) {
    gradient = memory.scratch("gradient of an activation", count);
  }
  loss_ = memory.loss();

  for (std::int64_t layer = 0; layer < kTiedMlpLayers; ++layer) {
    evaluation_uses_.push_back({unit_of_layer(layer), Phase::kForward, true, false});
  }
  training_uses_ = evaluation_uses_;
  for (std::int64_t layer = kTiedMlpLayers - 1; layer >= 0; --layer) {
    const bool last_applied = layer == kTiedMlpLayers - 1;
    const bool first_applied = layer == 0;
    training_uses_.push_back(
        {unit_of_layer(layer), Phase::kBackward, !first_applied, !last_applied});
  }
  training_uses_ = trained_uses(std::move(training_uses_), layout_);
}

UnitId TiedMlp::unit_of_layer(std::int64_t layer) {
  const std::int64_t distinct = kTiedMlpLayers - 1;
  return static_cast<UnitId>(distinct - 1 - layer % distinct);
}

View TiedMlp::forward_backward(Stage& stage, const Batch& batch) {
  Visits visits(stage, layout_, training_uses_);
  forward(visits, batch);
  kernels_.squared_error(compute_, outputs_.back().view(), batch.targets, gradients_[0].view(),
                         loss_.view(),
                         batch.loss_scale * batch.weight / static_cast<float>(loss_terms()));
  backward(visits, batch);
  return loss_.view();
}

View TiedMlp::evaluate(Stage& stage, const Batch& batch) {
  Visits visits(stage, layout_, evaluation_uses_);
  forward(visits, batch);
  kernels_.squared_error(compute_, outputs_.back().view(), batch.targets, {}, loss_.view(),
                         1.0F / static_cast<float>(loss_terms()));
  return loss_.view();
}

void TiedMlp::forward(Visits& visits, const Batch& batch) {
  require(batch.inputs.count == loss_terms() && batch.targets.count == loss_terms(),
          "[model] a batch of {} inputs and {} targets came where {} values were agreed",
          batch.inputs.count, batch.targets.count, loss_terms());
  const MatrixShape shape{batch_, config_.width, config_.width};
  View input = batch.inputs;
  for (std::int64_t layer = 0; layer < kTiedMlpLayers; ++layer) {
    const View output = outputs_[static_cast<std::size_t>(layer)].view();
    visits.forward(unit_of_layer(layer), [&](const UnitTensors& w) {
      kernels_.linear(compute_, input, w[kWeight], w[kBias], output, shape);
    });
    input = output;
  }
}

void TiedMlp::backward(Visits& visits, const Batch& batch) {
  const MatrixShape shape{batch_, config_.width, config_.width};
  View d_output = gradients_[0].view();
  View d_input = gradients_[1].view();
  for (std::int64_t layer = kTiedMlpLayers - 1; layer >= 0 && !visits.finished(); --layer) {
    const View input =
        layer == 0 ? batch.inputs : outputs_[static_cast<std::size_t>(layer - 1)].view();
    visits.backward(unit_of_layer(layer), [&](const UnitTensors& w, const UnitTensors& dw) {
      kernels_.linear_backward_weight(compute_, input, d_output, dw[kWeight], dw[kBias], shape);
      if (layer > 0) {
        kernels_.linear_backward_input(compute_, d_output, w[kWeight], d_input, shape);
      }
    });
    std::swap(d_output, d_input);
  }
}

}  // namespace zerolab
