/// \file
/// Choosing the element type of a view, and reading any float type as fp32.
#pragma once

#include <algorithm>
#include <cstdint>

#include "stages/core/convert.h"
#include "stages/core/view.h"

namespace zerolab::cpu {

/// Calls f(pointer of the view's own type). \throws std::logic_error unless fp32, bf16 or fp16.
template <class F>
void with_float_type(View view, const F& f) {
  switch (view.dtype) {
    case DType::kFloat32:
      return f(view.as<float>());
    case DType::kBFloat16:
      return f(view.as<BFloat16>());
    case DType::kFloat16:
      return f(view.as<Float16>());
    default:
      require(false, "[kernels] a view of {} was given where fp32, bf16 or fp16 is needed",
              name_of(view.dtype));
  }
}

/// Calls f(const float*, count) for consecutive pieces of x that fit the first-level cache.
template <class F>
void for_fp32_pieces(const float* x, std::int64_t count, const F& f) {
  f(x, count);
}
template <class T, class F>
void for_fp32_pieces(const T* x, std::int64_t count, const F& f) {
  constexpr std::int64_t kPiece = 1024;
  alignas(64) float piece[kPiece];
  for (std::int64_t i = 0; i < count; i += kPiece) {
    const std::int64_t n = std::min(kPiece, count - i);
    to_float(x + i, piece, n);
    f(static_cast<const float*>(piece), n);
  }
}

}  // namespace zerolab::cpu
