/// \file
/// Reads and writes safetensors files, piece by piece, so that a tensor need not fit in memory.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "stages/checkpoint/safetensors_header.h"
#include "stages/core/atomic_file.h"
#include "stages/core/input_file.h"

namespace zerolab {

/// An open safetensors file whose header has been checked in full.
class SafetensorsFile {
 public:
  /// \throws BadInput naming what is wrong: missing, truncated, a header that is too large, not
  /// JSON or against the format, tensors that overlap, leave holes or do not match their shape.
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return file_.path(); }
  const std::vector<SafetensorsEntry>& entries() const { return header_.entries; }
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
  /// Null when there is none of that name.
  const SafetensorsEntry* find(const std::string& name) const;

  /// `bytes` counts from the tensor's begin. \throws Failure when the file can no longer be read.
  void read(const SafetensorsEntry& entry, Range bytes, void* dst) const;

 private:
  InputFile file_;
  SafetensorsHeader header_;
  std::int64_t data_begin_ = 0;
};

/// Writes a safetensors file whose tensors are announced first and then filled in any order. The
/// file appears with `finish`, complete; without it nothing is left behind.
class SafetensorsWriter {
 public:
  /// `tensors`: name, dtype and shape; their bytes are laid out here, by size of the dtype (largest
  /// first, so that all are aligned) and name. \throws Failure when the file cannot be created,
  /// std::logic_error for two tensors of one name.
  SafetensorsWriter(const std::filesystem::path& path, std::vector<SafetensorsEntry> tensors,
                    std::map<std::string, std::string> metadata);

  /// `bytes` counts from the tensor's begin. \throws Failure (disk full, …).
  void write(const std::string& name, Range bytes, const void* src);
  /// \throws std::logic_error unless exactly the announced number of bytes has been written,
  /// Failure when the disk refuses.
  void finish();

 private:
  AtomicFile file_;
  std::map<std::string, Range> places_;  // in the file
  std::int64_t data_bytes_ = 0;
  std::int64_t written_bytes_ = 0;
};

}  // namespace zerolab
