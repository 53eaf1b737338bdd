/// \file
/// A file that appears complete or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace zerolab {

/// Writes beside the target under a temporary name; `commit` syncs and renames. A file that is not
/// committed leaves nothing behind, and an existing target stays as it was until the rename.
class AtomicFile {
 public:
  /// \throws Failure when the temporary file cannot be created.
  explicit AtomicFile(std::filesystem::path target);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  const std::filesystem::path& path() const { return target_; }

  /// At the end of what `append` has written. \throws Failure (disk full, …).
  void append(std::string_view bytes);
  /// Anywhere; does not move the place of `append`. \throws Failure.
  void write_at(std::int64_t offset, const void* data, std::int64_t bytes);
  /// Makes the file appear under its name, safely on disk. Call once, last. \throws Failure.
  void commit();

 private:
  [[noreturn]] void fail_with_errno(const char* action) const;

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
  std::int64_t end_ = 0;
};

/// `text` as a whole file. \throws Failure.
void write_file_atomically(const std::filesystem::path& target, std::string_view text);

}  // namespace zerolab
