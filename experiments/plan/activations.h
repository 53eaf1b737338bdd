/// \file
/// Activation memory of 16-bit training by published formulas.
#pragma once

#include <cstdint>

#include "experiments/plan/recipe.h"

namespace zerolab {

/// The letters of the formulas: s tokens of a sequence, b sequences of a micro-batch, h hidden
/// size, a attention heads.
struct ActivationShape {
  double s = 0, b = 0, h = 0, a = 0;
  double layers = 0, vocabulary = 0;
};
ActivationShape activation_shape(const Recipe& recipe, const PlannedModel& model);

/// How the tensors of a layer are divided (Korthikanti et al., arXiv 2205.05198, table 2).
struct TensorParallel {
  double degree = 1;      ///< t
  bool sequence = false;  ///< sequence parallelism divides what tensor parallelism leaves whole
};

/// Bytes of one layer's 16-bit activations; dropout masks take a byte.
///   none       sbh(10 + 24/t + 5as/(ht)), all of it over t with sequence parallelism; t = 1: 34
///   selective  without the attention term 5as/h, which backward computes again
///   full       2sbh, the layer's input
double layer_activation_bytes(const ActivationShape& shape, Recompute recompute,
                              const TensorParallel& parallel = {});

/// Around the layers: the embedding's dropout mask (sbh), and the head: its normalised input
/// (4sbh with the norm's) and its fp32 logits (4sbV) (Megatron-LM, theoretical_memory_usage.py).
double outer_activation_bytes(const ActivationShape& shape);

/// Of the whole model: all layers as above; with full recomputation every layer's input and one
/// layer in full; with checkpoints every k layers every k-th input and k layers in full. fp32
/// recipes hold twice the bytes, and this model has no dropout of its own.
std::int64_t planned_activation_bytes(const Recipe& recipe, const ActivationShape& shape);

}  // namespace zerolab
