/// \file
/// Files of one JSON object a line, with a last line that proves them whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "experiments/report/json_fields.h"
#include "stages/core/atomic_file.h"

namespace zerolab {

/// Appears complete or not at all; the last line is {"end":true,"records":n}.
class JsonLinesWriter {
 public:
  /// \throws Failure
  explicit JsonLinesWriter(std::filesystem::path path) : file_(std::move(path)) {}
  /// \throws Failure (disk full, …)
  void write(const Json& record);
  /// Writes the end line and makes the file appear. \throws Failure
  void finish();

 private:
  AtomicFile file_;
  std::string pending_;  // written in large pieces
  std::int64_t records_ = 0;
};

/// Calls `each` for every record in order; the field's `file()` is "PATH:LINE". Reads line by line,
/// so that a file may be larger than memory.
/// \throws BadInput naming file and line: not JSON, no object, no end line (cut short), a wrong
/// count, or text after the end line.
void read_json_lines(const std::filesystem::path& path,
                     const std::function<void(const JsonField&)>& each);

}  // namespace zerolab
