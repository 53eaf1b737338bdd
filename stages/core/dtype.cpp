#include "stages/core/dtype.h"

#include <array>
#include <utility>

#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr std::array<std::pair<DType, std::string_view>, 9> kNames{{
    {DType::kFloat32, "fp32"},
    {DType::kBFloat16, "bf16"},
    {DType::kFloat16, "fp16"},
    {DType::kFloat64, "fp64"},
    {DType::kInt32, "int32"},
    {DType::kInt64, "int64"},
    {DType::kUInt64, "uint64"},
    {DType::kInt8, "int8"},
    {DType::kByte, "byte"},
}};

}  // namespace

std::string_view name_of(DType dtype) {
  for (const auto& [value, name] : kNames) {
    if (value == dtype) return name;
  }
  return "unknown";
}

DType dtype_from_name(std::string_view name) {
  for (const auto& [value, known] : kNames) {
    if (known == name) return value;
  }
  bad_input(
      "[dtype] '{}' is not an element type; use fp32, bf16, fp16, fp64, int32, int64, uint64, int8 "
      "or byte",
      name);
}

}  // namespace zerolab
