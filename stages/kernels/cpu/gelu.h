/// \file
/// GELU in its tanh form (Hendrycks and Gimpel 2016; GPT-2's "gelu_new").
///
/// gelu(x) = x/2 · (1 + tanh u) = x · σ(2u), u = √(2/π) · (x + 0.044715 x³). The sigmoid form needs
/// one exponential and does not cancel for large negative x.
#pragma once

#include <cstdint>

namespace zerolab::cpu {

/// y = gelu(x); y may be x.
void gelu(const float* x, float* y, std::int64_t count);

/// d *= gelu'(x): from the gradient after the GELU to the one before it.
void gelu_backward(const float* x, float* d, std::int64_t count);

}  // namespace zerolab::cpu
