#include "stages/checkpoint/safetensors_header.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "stages/core/error.h"

namespace zerolab {

namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kMetadata = "__metadata__";
// header object > tensor object > shape array
constexpr int kDeepestNesting = 3;

struct DTypeBytes {
  std::string_view name;
  std::int64_t bytes;
};
constexpr std::array<DTypeBytes, 16> kDTypes = {{{"BOOL", 1},
                                                 {"U8", 1},
                                                 {"I8", 1},
                                                 {"F8_E5M2", 1},
                                                 {"F8_E4M3", 1},
                                                 {"I16", 2},
                                                 {"U16", 2},
                                                 {"F16", 2},
                                                 {"BF16", 2},
                                                 {"I32", 4},
                                                 {"U32", 4},
                                                 {"F32", 4},
                                                 {"F64", 8},
                                                 {"I64", 8},
                                                 {"U64", 8},
                                                 {"C64", 8}}};

/// Parses JSON and refuses what a plain parse lets pass: a key given twice, and deep nesting.
Json parse_strictly(std::string_view text, const std::string& file) {
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kDeepestNesting)
      bad_input("[safetensors] {}: the header is nested too deeply", file);
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key &&
        !keys.back().insert(parsed.get_ref<const std::string&>()).second) {
      bad_input("[safetensors] {}: the header has '{}' twice", file,
                parsed.get_ref<const std::string&>());
    }
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), watch);
  } catch (const Json::parse_error& error) {
    bad_input("[safetensors] {}: the header is not JSON (byte {} of it is unexpected)", file,
              error.byte);
  }
}

class HeaderParser {
 public:
  HeaderParser(std::int64_t data_bytes, const std::string& file)
      : data_bytes_(data_bytes), file_(file) {}

  SafetensorsHeader parse(const Json& json) {
    SafetensorsHeader header;
    for (const auto& [name, value] : json.items()) {
      if (!value.is_object()) wrong(name, "is not an object");
      if (name == kMetadata) {
        header.metadata = metadata(value);
      } else {
        header.entries.push_back(entry(name, value));
      }
    }
    std::stable_sort(header.entries.begin(), header.entries.end(),
                     [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
                       return a.bytes.begin != b.bytes.begin ? a.bytes.begin < b.bytes.begin
                                                             : a.bytes.end < b.bytes.end;
                     });
    require_tiling(header.entries);
    return header;
  }

 private:
  template <class... Args>
  [[noreturn]] void wrong(const std::string& name, fmt::format_string<Args...> format,
                          Args&&... args) const {
    bad_input("[safetensors] {}: '{}' {}", file_, name,
              fmt::format(format, std::forward<Args>(args)...));
  }

  std::map<std::string, std::string> metadata(const Json& value) const {
    std::map<std::string, std::string> result;
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) wrong(kMetadata, "has '{}' that is not a string", key);
      result[key] = text.get<std::string>();
    }
    return result;
  }

  SafetensorsEntry entry(const std::string& name, const Json& value) const {
    for (const auto& [key, ignored] : value.items()) {
      if (key != "dtype" && key != "shape" && key != "data_offsets") {
        wrong(name, "has an unknown key '{}'", key);
      }
    }
    SafetensorsEntry result;
    result.name = name;
    if (!value.contains("dtype") || !value["dtype"].is_string()) wrong(name, "has no dtype");
    result.dtype = value["dtype"].get<std::string>();
    if (safetensors_dtype_bytes(result.dtype) == 0) {
      wrong(name, "has the unknown dtype '{}'", result.dtype);
    }
    result.shape = counts(name, value, "shape");
    const std::vector<std::int64_t> offsets = counts(name, value, "data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1]) {
      wrong(name, "has data_offsets that are not a begin and an end");
    }
    result.bytes = {offsets[0], offsets[1]};
    const std::int64_t expected = safetensors_bytes(result);
    if (expected < 0) wrong(name, "has a shape too large for any file");
    if (result.bytes.size() != expected) {
      wrong(name, "covers {} bytes where its shape and dtype make {}", result.bytes.size(),
            expected);
    }
    return result;
  }

  std::vector<std::int64_t> counts(const std::string& name, const Json& value,
                                   const char* key) const {
    if (!value.contains(key) || !value[key].is_array()) wrong(name, "has no {}", key);
    std::vector<std::int64_t> result;
    for (const Json& item : value[key]) {
      const bool fits = item.is_number_unsigned() &&
                        item.get<std::uint64_t>() <=
                            static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
      if (!fits) wrong(name, "has {} in {}, which is not a count", item.dump(), key);
      result.push_back(item.get<std::int64_t>());
    }
    return result;
  }

  void require_tiling(const std::vector<SafetensorsEntry>& entries) const {
    std::int64_t end = 0;
    for (const SafetensorsEntry& entry : entries) {
      if (entry.bytes.begin < end) {
        wrong(entry.name,
              "begins at byte {} of the data and overlaps the tensor before it, which "
              "ends at {}",
              entry.bytes.begin, end);
      }
      if (entry.bytes.begin > end) {
        wrong(entry.name, "begins at byte {} of the data and leaves a hole behind byte {}",
              entry.bytes.begin, end);
      }
      end = entry.bytes.end;
    }
    if (end != data_bytes_) {
      bad_input("[safetensors] {} has {} bytes of data where its header promises {}; it is {}",
                file_, data_bytes_, end, end > data_bytes_ ? "truncated" : "too long");
    }
  }

  std::int64_t data_bytes_;
  const std::string& file_;
};

}  // namespace

std::int64_t safetensors_dtype_bytes(std::string_view dtype) {
  for (const DTypeBytes& known : kDTypes) {
    if (known.name == dtype) return known.bytes;
  }
  return 0;
}

std::int64_t safetensors_bytes(const SafetensorsEntry& entry) {
  if (std::find(entry.shape.begin(), entry.shape.end(), 0) != entry.shape.end()) return 0;
  std::int64_t bytes = safetensors_dtype_bytes(entry.dtype);
  for (const std::int64_t extent : entry.shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return -1;
  }
  return bytes;
}

SafetensorsHeader parse_safetensors_header(std::string_view json, std::int64_t data_bytes,
                                           const std::string& file) {
  if (json.empty() || json.front() != '{') {
    bad_input(
        "[safetensors] {}: the header does not begin with '{{'; this is not a safetensors file",
        file);
  }
  return HeaderParser(data_bytes, file).parse(parse_strictly(json, file));
}

std::string format_safetensors_header(const SafetensorsHeader& header) {
  Json json = Json::object();
  if (!header.metadata.empty()) json[kMetadata] = header.metadata;
  for (const SafetensorsEntry& entry : header.entries) {
    json[entry.name] = {{"dtype", entry.dtype},
                        {"shape", entry.shape},
                        {"data_offsets", {entry.bytes.begin, entry.bytes.end}}};
  }
  std::string text = json.dump();
  text.resize(static_cast<std::size_t>(round_up(static_cast<std::int64_t>(text.size()), 8)), ' ');
  return text;
}

}  // namespace zerolab
