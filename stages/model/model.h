/// \file
/// A model as a stage sees it: a layout of parameters, a sequence of uses, and the computation.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stages/core/view.h"
#include "stages/model/layout.h"
#include "stages/stage.h"

namespace zerolab {

/// One micro-batch of one rank, on the device. Token models: int32 (B,T) inputs and targets.
/// Regression: fp32 (B, features) both.
struct Batch {
  View inputs;
  View targets;
  std::int64_t step = 1;          ///< of training, from 1
  std::int64_t first_sample = 0;  ///< number of the first row in the step's global batch
  int micro_batch = 0;            ///< index in the global batch of this rank
  float weight = 1;               ///< of the micro-batch's mean loss in the gradient
  /// Multiplies the loss that backward starts from, so that fp16 gradients do not vanish.
  float loss_scale = 1;
};

/// A network whose parameters live in a stage. Created per rank; owns its activations.
class Model {
 public:
  virtual ~Model() = default;

  virtual const ParameterLayout& layout() const = 0;
  /// The visits of one micro-batch, in order: forward then backward, or forward only. Those of
  /// training may depend on the micro-batch's index in the step, never on the rank.
  virtual std::span<const Use> training_uses(int micro_batch) const = 0;
  std::span<const Use> training_uses() const { return training_uses(0); }
  virtual std::span<const Use> evaluation_uses() const = 0;

  /// Elements of the loss's mean: B·T tokens, or B rows times features.
  virtual std::int64_t loss_terms() const = 0;
  /// Runs all training uses on `stage` (which has been told by `begin`). Gradients are those of
  /// `batch.weight` times `batch.loss_scale` times the sum of the loss over `loss_terms()`. Returns
  /// fp64 (1): the sum of the loss over the terms that count, valid on the compute stream until the
  /// next call.
  virtual View forward_backward(Stage& stage, const Batch& batch) = 0;
  /// Forward only; the same sum.
  virtual View evaluate(Stage& stage, const Batch& batch) = 0;
};

}  // namespace zerolab
