#include "stages/checkpoint/safetensors.h"

#include <algorithm>
#include <bit>

#include "stages/core/error.h"

namespace zerolab {

namespace {

static_assert(std::endian::native == std::endian::little, "safetensors is little-endian");

constexpr std::int64_t kLengthBytes = 8;

/// The header's length, checked against the file before anything of that size is allocated.
std::int64_t read_header_length(const InputFile& file) {
  const std::string name = file.path().string();
  if (file.size() < kLengthBytes) {
    bad_input("[safetensors] {} is {} bytes long; a safetensors file begins with 8 bytes of length",
              name, file.size());
  }
  std::uint64_t length = 0;
  file.read_at(0, &length, kLengthBytes);
  if (length > static_cast<std::uint64_t>(kLargestSafetensorsHeader)) {
    bad_input(
        "[safetensors] {} announces a header of {} bytes; at most {} are allowed, so this is "
        "not a safetensors file",
        name, length, kLargestSafetensorsHeader);
  }
  if (length > static_cast<std::uint64_t>(file.size() - kLengthBytes)) {
    bad_input("[safetensors] {} announces a header of {} bytes and ends after {}; it is truncated",
              name, length, file.size() - kLengthBytes);
  }
  return static_cast<std::int64_t>(length);
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : file_(path, "safetensors") {
  const std::int64_t length = read_header_length(file_);
  std::string json(static_cast<std::size_t>(length), '\0');
  file_.read_at(kLengthBytes, json.data(), length);
  data_begin_ = kLengthBytes + length;
  header_ = parse_safetensors_header(json, file_.size() - data_begin_, path.string());
}

const SafetensorsEntry* SafetensorsFile::find(const std::string& name) const {
  const auto found =
      std::find_if(entries().begin(), entries().end(),
                   [&](const SafetensorsEntry& entry) { return entry.name == name; });
  return found == entries().end() ? nullptr : &*found;
}

void SafetensorsFile::read(const SafetensorsEntry& entry, Range bytes, void* dst) const {
  require(bytes.begin >= 0 && bytes.begin <= bytes.end && bytes.end <= entry.bytes.size(),
          "[safetensors] bytes [{}, {}) are outside of '{}'", bytes.begin, bytes.end, entry.name);
  file_.read_at(data_begin_ + entry.bytes.begin + bytes.begin, dst, bytes.size());
}

SafetensorsWriter::SafetensorsWriter(const std::filesystem::path& path,
                                     std::vector<SafetensorsEntry> tensors,
                                     std::map<std::string, std::string> metadata)
    : file_(path) {
  std::sort(tensors.begin(), tensors.end(),
            [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
              const std::int64_t size_a = safetensors_dtype_bytes(a.dtype);
              const std::int64_t size_b = safetensors_dtype_bytes(b.dtype);
              return size_a != size_b ? size_a > size_b : a.name < b.name;
            });
  for (SafetensorsEntry& tensor : tensors) {
    const std::int64_t bytes = safetensors_bytes(tensor);
    require(safetensors_dtype_bytes(tensor.dtype) > 0 && bytes >= 0,
            "[safetensors] '{}' cannot be written as {}", tensor.name, tensor.dtype);
    tensor.bytes = {data_bytes_, data_bytes_ + bytes};
    data_bytes_ = tensor.bytes.end;
  }
  const std::string header = format_safetensors_header({tensors, std::move(metadata)});
  const auto length = static_cast<std::uint64_t>(header.size());
  file_.append({reinterpret_cast<const char*>(&length), kLengthBytes});
  file_.append(header);
  const auto data_begin = kLengthBytes + static_cast<std::int64_t>(header.size());
  for (const SafetensorsEntry& tensor : tensors) {
    const Range place{data_begin + tensor.bytes.begin, data_begin + tensor.bytes.end};
    require(places_.emplace(tensor.name, place).second, "[safetensors] '{}' was announced twice",
            tensor.name);
  }
}

void SafetensorsWriter::write(const std::string& name, Range bytes, const void* src) {
  const auto place = places_.find(name);
  require(place != places_.end(), "[safetensors] '{}' was not announced", name);
  require(bytes.begin >= 0 && bytes.begin <= bytes.end && bytes.end <= place->second.size(),
          "[safetensors] bytes [{}, {}) are outside of '{}'", bytes.begin, bytes.end, name);
  file_.write_at(place->second.begin + bytes.begin, src, bytes.size());
  written_bytes_ += bytes.size();
}

void SafetensorsWriter::finish() {
  require(written_bytes_ == data_bytes_,
          "[safetensors] {} bytes of {} were written where {} were announced", written_bytes_,
          file_.path().string(), data_bytes_);
  file_.commit();
}

}  // namespace zerolab
