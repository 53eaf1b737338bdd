/// \file
/// Tokens from files: raw bytes, or llm.c's `.bin`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "stages/core/input_file.h"
#include "stages/core/view.h"

namespace zerolab {

enum class TokenFormat : std::uint8_t {
  kBytes,   ///< every byte is a token; V = 256
  kUInt16,  ///< llm.c: 256 int32 (magic 20240520, version 1, count), then uint16 tokens
};

/// Several files back to back, with nothing between them, read at any position. Reading is safe
/// from several threads at once, so the thread ranks of a world share one source.
class TokenSource {
 public:
  /// A file whose name ends in ".bin" must be llm.c's; any other file is read as bytes. All tokens
  /// are checked here, once, to be below `vocabulary`.
  /// \throws BadInput naming the file (and the byte) when there are no files, one is missing, empty
  /// or truncated, has another format, or holds a token that the model does not know, and when
  /// bytes and `.bin` files are mixed.
  TokenSource(const std::vector<std::filesystem::path>& files, std::int64_t vocabulary);

  std::int64_t size() const { return size_; }
  TokenFormat format() const { return files_.front().format; }
  /// Tokens [position, position + out.size()). \throws std::logic_error outside the data, Failure
  /// when a file can no longer be read.
  void read(std::int64_t position, std::span<std::int32_t> out) const;

 private:
  struct File {
    InputFile file;
    TokenFormat format;
    std::int64_t header_bytes;
    Range tokens;  // of the whole source
  };

  static File open(const std::filesystem::path& path, std::int64_t first);
  static void read_from(const File& file, std::int64_t index, std::span<std::int32_t> out);
  static void check_tokens(const File& file, std::int64_t vocabulary);

  std::vector<File> files_;
  std::int64_t size_ = 0;
};

/// Training and held-out parts of `size` tokens.
struct TokenSplit {
  Range training;
  Range held_out;  ///< the last 10 %, rounded down
};
TokenSplit split_tokens(std::int64_t size);

}  // namespace zerolab
