// Bulk conversions. bf16 is integer work that the compiler vectorises; fp16 needs F16C, since the
// branches of the one-element functions do not vectorise.
#include "stages/core/convert.h"

#include <cstring>

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace zerolab {

void to_float(const float* src, float* dst, std::int64_t count) {
  if (count > 0) std::memcpy(dst, src, static_cast<std::size_t>(count) * sizeof(float));
}

void from_float(const float* src, float* dst, std::int64_t count) { to_float(src, dst, count); }

void to_float(const BFloat16* __restrict src, float* __restrict dst, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) dst[i] = to_float(src[i]);
}

void from_float(const float* __restrict src, BFloat16* __restrict dst, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) dst[i] = to_bfloat16(src[i]);
}

void to_float(const Float16* __restrict src, float* __restrict dst, std::int64_t count) {
  std::int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= count; i += 8) {
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(src + i));
    _mm256_storeu_ps(dst + i, _mm256_cvtph_ps(half));
  }
#endif
  for (; i < count; ++i) dst[i] = to_float(src[i]);
}

void from_float(const float* __restrict src, Float16* __restrict dst, std::int64_t count) {
  std::int64_t i = 0;
#if defined(__F16C__)
  constexpr int kNearestEven = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  for (; i + 8 <= count; i += 8) {
    const __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(src + i), kNearestEven);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(dst + i), half);
  }
#endif
  for (; i < count; ++i) dst[i] = to_float16(src[i]);
}

}  // namespace zerolab
