/// \file
/// The network of DeepSpeed #966: ten linear layers, the last tied to the first.
#pragma once

#include <vector>

#include "stages/device/device.h"
#include "stages/kernels/kernels.h"
#include "stages/model/model.h"
#include "stages/model/visits.h"

namespace zerolab {

struct TiedMlpConfig {
  /// Features of the input, of every layer and of the output: the tie needs them equal. 64 keeps a
  /// unit (64² + 64 parameters) far above the alignment of 32 and a step far below a millisecond.
  std::int64_t width = 64;

  bool operator==(const TiedMlpConfig&) const = default;
};

/// Layers that are applied; the last is the first again, in weight and bias.
inline constexpr std::int64_t kTiedMlpLayers = 10;

/// Units "layers.8" … "layers.1", "layers.0", each a weight (in, out) and a bias. Weights start
/// from N(0, 1/width), so that ten layers keep the size of the signal. \throws BadInput when the
/// width is not positive or absurdly large.
ParameterLayout tied_mlp_layout(const TiedMlpConfig& config);

/// y = layer₀(layer₈(… layer₁(layer₀(x)))), trained on squared error. No activation functions: what
/// matters here is the tie.
///
/// Uses of one micro-batch. Forward: layers.0, layers.1 … layers.8, layers.0. Backward: layers.0
/// (as the last layer), layers.8 … layers.1, layers.0, which reads no parameters (nobody needs the
/// gradient of the input) and completes the gradient of the tied unit.
class TiedMlp final : public Model {
 public:
  /// `batch` samples a micro-batch. `layout` is tied_mlp_layout's, some of whose tensors may be
  /// frozen. \throws BadInput when it is not positive.
  TiedMlp(const TiedMlpConfig& config, ParameterLayout layout, Device& device, Stream& compute,
          Kernels& kernels, std::int64_t batch, DType dtype = DType::kFloat32);

  using Model::training_uses;
  const ParameterLayout& layout() const override { return layout_; }
  std::span<const Use> training_uses(int) const override { return training_uses_; }
  std::span<const Use> evaluation_uses() const override { return evaluation_uses_; }
  std::int64_t loss_terms() const override { return batch_ * config_.width; }
  View forward_backward(Stage& stage, const Batch& batch) override;
  View evaluate(Stage& stage, const Batch& batch) override;

 private:
  /// The unit that the `layer`-th applied layer uses.
  static UnitId unit_of_layer(std::int64_t layer);
  void forward(Visits& visits, const Batch& batch);
  void backward(Visits& visits, const Batch& batch);

  TiedMlpConfig config_;
  std::int64_t batch_;
  ParameterLayout layout_;
  Stream& compute_;
  Kernels& kernels_;
  std::vector<Buffer> outputs_;  // of each layer, (B, width); the last is the prediction
  Buffer gradients_[2];          // (B, width), of a layer's output and of its input, in turn
  Buffer loss_;                  // fp64 (1)
  std::vector<Use> evaluation_uses_;
  std::vector<Use> training_uses_;
};

}  // namespace zerolab
