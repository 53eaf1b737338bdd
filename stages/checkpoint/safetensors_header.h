/// \file
/// The header of a safetensors file: which tensors there are and where each one lies.
///
///   file   = length(u64 LE) header(length bytes of JSON, begins with "{", may end in spaces) data
///   header = { NAME: {"dtype": D, "shape": [..], "data_offsets": [BEGIN, END]}, ...,
///              "__metadata__": {STRING: STRING, ...} }
/// Offsets count from the end of the header; sorted by them, the tensors tile the data exactly.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stages/core/view.h"

namespace zerolab {

struct SafetensorsEntry {
  std::string name;
  std::string dtype;  ///< "F32", "BF16", "I64", …
  std::vector<std::int64_t> shape;
  Range bytes;  ///< in the data
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  ///< by offset
  std::map<std::string, std::string> metadata;
};

/// The reference reader's limit for the length of a header.
inline constexpr std::int64_t kLargestSafetensorsHeader = 100'000'000;

/// Bytes of one element, or 0 for a dtype that this reader does not know.
std::int64_t safetensors_dtype_bytes(std::string_view dtype);

/// Bytes of a tensor, or -1 when the product does not fit 63 bits.
std::int64_t safetensors_bytes(const SafetensorsEntry& entry);

/// Checks everything that the format demands, against a file with `data_bytes` bytes of data.
/// \throws BadInput naming `file`, the tensor and what is wrong with it.
SafetensorsHeader parse_safetensors_header(std::string_view json, std::int64_t data_bytes,
                                           const std::string& file);

/// The header as bytes, padded with spaces to a multiple of 8. Entries keep their order.
std::string format_safetensors_header(const SafetensorsHeader& header);

}  // namespace zerolab
