/// \file
/// Conversions between fp32 and the 16-bit floats: round to nearest even, NaN stays NaN.
#pragma once

#include <bit>
#include <cstdint>

#include "stages/core/dtype.h"

namespace zerolab {

/// Exact.
constexpr float to_float(float value) { return value; }

/// Exact: bf16 is the upper half of fp32.
constexpr float to_float(BFloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16U);
}

/// Exact. fp16 has 5 exponent bits (bias 15) and 10 fraction bits.
constexpr float to_float(Float16 value) {
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000U) << 16U;
  const std::uint32_t magnitude = value.bits & 0x7fffU;
  std::uint32_t bits = 0;
  if (magnitude >= 0x7c00U) {  // inf, NaN (made quiet, as the hardware does)
    bits = 0x7f800000U | ((magnitude & 0x3ffU) << 13U) | (magnitude > 0x7c00U ? 0x400000U : 0U);
  } else if (magnitude >= 0x400U) {
    bits = (magnitude << 13U) + ((127U - 15U) << 23U);
  } else {  // subnormal: magnitude · 2⁻²⁴
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24F);
  }
  return std::bit_cast<float>(sign | bits);
}

constexpr BFloat16 to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  // Rounding could carry a NaN's fraction into the exponent and make it an infinity.
  const std::uint32_t nan = (bits >> 16U) | 0x40U;
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U;
  const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
  return {static_cast<std::uint16_t>(is_nan ? nan : rounded)};
}

constexpr Float16 to_float16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16U) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  std::uint32_t half = 0;
  if (magnitude > 0x7f800000U) {
    half = 0x7e00U | ((magnitude >> 13U) & 0x3ffU);
  } else if (magnitude >= 0x477ff000U) {  // 65520 and more round to infinity
    half = 0x7c00U;
  } else if (magnitude >= 0x38800000U) {  // normal: 2⁻¹⁴ and more
    half = (magnitude - ((127U - 15U) << 23U) + 0xfffU + ((magnitude >> 13U) & 1U)) >> 13U;
  } else {
    // Adding 0.5 puts the unit of the fp32 fraction at 2⁻²⁴, the unit of fp16 subnormals.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    half = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5F);
  }
  return {static_cast<std::uint16_t>(sign | half)};
}

/// The value as T, one of float, BFloat16 and Float16.
template <class T>
constexpr T from_float(float value);
template <>
constexpr float from_float<float>(float value) {
  return value;
}
template <>
constexpr BFloat16 from_float<BFloat16>(float value) {
  return to_bfloat16(value);
}
template <>
constexpr Float16 from_float<Float16>(float value) {
  return to_float16(value);
}

/// `count` elements at once, at memory speed (F16C where the build has it). The same bits as the
/// one-element functions. Source and destination do not overlap.
void to_float(const float* src, float* dst, std::int64_t count);
void to_float(const BFloat16* src, float* dst, std::int64_t count);
void to_float(const Float16* src, float* dst, std::int64_t count);
void from_float(const float* src, float* dst, std::int64_t count);
void from_float(const float* src, BFloat16* dst, std::int64_t count);
void from_float(const float* src, Float16* dst, std::int64_t count);

}  // namespace zerolab
