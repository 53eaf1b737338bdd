/// \file
/// Files for the data tests.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "stages/core/atomic_file.h"
#include "tests/tools/temporary_directory.h"

namespace zerolab {

/// llm.c's .bin: 256 int32 of header, then uint16 tokens.
inline std::string bin_file(const std::vector<std::uint16_t>& tokens, std::int32_t magic = 20240520,
                            std::int32_t version = 1) {
  std::array<std::int32_t, 256> header{};
  header[0] = magic;
  header[1] = version;
  header[2] = static_cast<std::int32_t>(tokens.size());
  return std::string(reinterpret_cast<const char*>(header.data()), sizeof(header)) +
         std::string(reinterpret_cast<const char*>(tokens.data()), 2 * tokens.size());
}

/// A folder of data files by name.
class DataFiles {
 public:
  std::filesystem::path add(const std::string& name, const std::string& content) {
    write_file_atomically(directory_ / name, content);
    return directory_ / name;
  }
  std::filesystem::path missing(const std::string& name) const { return directory_ / name; }

 private:
  TemporaryDirectory directory_;
};

}  // namespace zerolab
