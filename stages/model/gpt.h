/// \file
/// GPT-2 (Radford et al. 2019), forward and backward, on kernels and a stage.
#pragma once

#include <optional>
#include <vector>

#include "stages/model/gpt_activations.h"
#include "stages/model/gpt_config.h"
#include "stages/model/gpt_uses.h"
#include "stages/model/model.h"
#include "stages/model/visits.h"

namespace zerolab {

/// The exact GPT-2 architecture: pre-norm blocks, tanh GELU, learned positions, tied head, and in
/// training dropout after the embedding, on the attention's probabilities and on what attention and
/// MLP add to the residual stream. Its uses are told in gpt_uses.h.
class Gpt final : public Model {
 public:
  /// Sequences of `time` <= config.max_time tokens, `batch` a micro-batch. `layout` is
  /// gpt_layout's, some of whose tensors may be frozen. Allocates all activations
  /// (activation_formula.h), in `dtype`, which the stage's parameters must have. \throws BadInput
  /// when the sequence is longer than the model's maximum, an extent is not positive or an option
  /// has no meaning.
  Gpt(const GptConfig& config, ParameterLayout layout, const ModelOptions& options, Device& device,
      Stream& compute, Kernels& kernels, std::int64_t batch, std::int64_t time,
      DType dtype = DType::kFloat32);

  using Model::training_uses;
  const ParameterLayout& layout() const override { return layout_; }
  std::span<const Use> training_uses(int micro_batch) const override;
  std::span<const Use> evaluation_uses() const override { return evaluation_uses_; }
  std::int64_t loss_terms() const override { return tokens_; }
  View forward_backward(Stage& stage, const Batch& batch) override;
  View evaluate(Stage& stage, const Batch& batch) override;

  const GptConfig& config() const { return config_; }

 private:
  /// Places in a layer where something is dropped; 8 of them are reserved for each layer.
  enum Site : std::uint32_t { kAfterEmbedding, kProbabilities, kAfterAttention, kAfterMlp };

  /// One micro-batch on its way.
  struct Pass {
    const Batch& batch;
    bool trains = false;
    std::optional<std::int64_t> skipped;  // block
  };

  UnitId block_unit(std::int64_t layer) const { return gpt_block_unit(config_, layer); }
  DropoutMask mask(const Pass& pass, std::int64_t layer, Site site) const;
  /// y = residual + dropout(y)
  void drop_and_add(const Pass& pass, std::int64_t layer, Site site, View residual, View y);
  /// The gradient of what was dropped: `d_output` itself, or in `scratch` where anything was.
  View undrop(const Pass& pass, std::int64_t layer, Site site, View d_output, View scratch);

  void forward(Visits& visits, const Pass& pass);
  void forward_block(const Pass& pass, std::int64_t layer, const UnitTensors& w, bool whole);
  /// A bypassed block hands the residual stream on.
  void bypass(std::int64_t layer);
  /// Logits to `loss`; in training the logits become the gradient of the mean loss.
  void loss(const Pass& pass);
  void backward(Visits& visits, const Pass& pass);
  void recompute(Visits& visits, const Pass& pass, const GptSegment& segment);
  void backward_block(const Pass& pass, std::int64_t layer, const UnitTensors& w,
                      const UnitTensors& dw);
  void backward_mlp(const Pass& pass, std::int64_t layer, const UnitTensors& w,
                    const UnitTensors& dw);
  void backward_attention(const Pass& pass, std::int64_t layer, const UnitTensors& w,
                          const UnitTensors& dw);

  GptConfig config_;
  ModelOptions options_;
  std::int64_t batch_;   // B
  std::int64_t time_;    // T
  std::int64_t tokens_;  // B·T
  ParameterLayout layout_;
  UnitId final_norm_, embedding_;
  Stream& compute_;
  Kernels& kernels_;
  GptActivations activations_;
  std::vector<Use> evaluation_uses_;
  std::vector<Use> training_uses_;               // of a micro-batch that visits all blocks
  std::vector<std::vector<Use>> skipping_uses_;  // by the block that is bypassed
};

}  // namespace zerolab
