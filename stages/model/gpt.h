/// \file
/// GPT-2 (Radford et al. 2019), forward and backward, on kernels and a stage.
#pragma once

#include <vector>

#include "stages/model/gpt_activations.h"
#include "stages/model/gpt_config.h"
#include "stages/model/model.h"
#include "stages/model/visits.h"

namespace zerolab {

/// The exact GPT-2 architecture: pre-norm blocks, tanh GELU, learned positions, tied head.
///
/// Uses of one micro-batch. Forward: embedding, h.0 … h.{L-1}, ln_f, embedding (as the head).
/// Backward: embedding (as the head), ln_f, h.{L-1} … h.0, embedding, which reads no parameters and
/// completes the gradient of the tied weight.
class Gpt final : public Model {
 public:
  /// Sequences of `time` <= config.max_time tokens, `batch` a micro-batch. Allocates all
  /// activations (activation_formula.h), in `dtype`, which the stage's parameters must have.
  /// \throws BadInput when the sequence is longer than the model's maximum or an extent is not
  /// positive.
  Gpt(const GptConfig& config, Device& device, Stream& compute, Kernels& kernels,
      std::int64_t batch, std::int64_t time, DType dtype = DType::kFloat32);

  const ParameterLayout& layout() const override { return layout_; }
  std::span<const Use> training_uses() const override { return training_uses_; }
  std::span<const Use> evaluation_uses() const override { return evaluation_uses_; }
  std::int64_t loss_terms() const override { return tokens_; }
  View forward_backward(Stage& stage, const Batch& batch) override;
  View evaluate(Stage& stage, const Batch& batch) override;

  const GptConfig& config() const { return config_; }

 private:
  UnitId block_unit(std::int64_t layer) const;
  /// The residual stream that enters a block.
  View block_input(std::size_t layer) const;

  void forward(Visits& visits, const Batch& batch);
  void forward_block(std::size_t layer, const UnitTensors& w);
  /// Logits to `loss`; with `gradient`, the logits become the gradient of the mean loss.
  void loss(const Batch& batch, bool gradient);
  void backward(Visits& visits, const Batch& batch);
  void backward_block(std::size_t layer, const UnitTensors& w, const UnitTensors& dw);

  GptConfig config_;
  std::int64_t batch_;   // B
  std::int64_t time_;    // T
  std::int64_t tokens_;  // B·T
  ParameterLayout layout_;
  UnitId final_norm_, embedding_;
  Stream& compute_;
  Kernels& kernels_;
  GptActivations activations_;
  std::vector<Use> evaluation_uses_;
  std::vector<Use> training_uses_;
};

}  // namespace zerolab
