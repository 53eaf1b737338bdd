/// \file
/// A file open for reading at any offset.
#pragma once

#include <cstdint>
#include <filesystem>

namespace zerolab {

/// Read-only, move-only. `read_at` may be called by several threads at once.
class InputFile {
 public:
  /// `component` begins the messages: "data", "safetensors".
  /// \throws BadInput when the file is missing, unreadable or not a regular file.
  InputFile(std::filesystem::path path, const char* component);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  const std::filesystem::path& path() const { return path_; }
  /// Bytes, when it was opened.
  std::int64_t size() const { return size_; }
  /// Exactly `bytes` bytes from `offset`. \throws Failure when the file ends early (somebody
  /// shortened it since it was opened) or the disk fails.
  void read_at(std::int64_t offset, void* dst, std::int64_t bytes) const;

 private:
  std::filesystem::path path_;
  const char* component_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

}  // namespace zerolab
