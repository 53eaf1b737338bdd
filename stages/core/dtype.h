/// \file
/// Element types of buffers and of reductions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace zerolab {

/// bf16 and fp16 are stored as their 16 bits; all arithmetic on them happens in fp32.
struct BFloat16 {
  std::uint16_t bits;
};
struct Float16 {
  std::uint16_t bits;
};

enum class DType : std::uint8_t {
  kFloat32,
  kBFloat16,
  kFloat16,
  kFloat64,
  kInt32,
  kInt64,
  kUInt64,
  kInt8,
  kByte,
};

/// Bytes of one element.
constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kInt32:
      return 4;
    case DType::kBFloat16:
    case DType::kFloat16:
      return 2;
    case DType::kFloat64:
    case DType::kInt64:
    case DType::kUInt64:
      return 8;
    case DType::kInt8:
    case DType::kByte:
      return 1;
  }
  return 0;
}

/// The field's short name: "fp32", "bf16", "fp16", "fp64", "int32", "int64", "uint64", "int8",
/// "byte".
std::string_view name_of(DType dtype);

/// \throws BadInput for a name that `name_of` never returns.
DType dtype_from_name(std::string_view name);

/// The DType of a C++ element type: `dtype_of<float> == DType::kFloat32`.
template <class T>
inline constexpr DType dtype_of = DType::kByte;
template <>
inline constexpr DType dtype_of<float> = DType::kFloat32;
template <>
inline constexpr DType dtype_of<BFloat16> = DType::kBFloat16;
template <>
inline constexpr DType dtype_of<Float16> = DType::kFloat16;
template <>
inline constexpr DType dtype_of<double> = DType::kFloat64;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::kInt32;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::kInt64;
template <>
inline constexpr DType dtype_of<std::uint64_t> = DType::kUInt64;
template <>
inline constexpr DType dtype_of<std::int8_t> = DType::kInt8;

}  // namespace zerolab
