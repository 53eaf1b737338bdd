#include "stages/data/token_source.h"

#include <algorithm>
#include <array>
#include <bit>

#include "stages/core/error.h"

namespace zerolab {

namespace {

static_assert(std::endian::native == std::endian::little, "llm.c's files are little-endian");

constexpr std::int64_t kHeaderWords = 256;
constexpr std::int64_t kHeaderBytes = kHeaderWords * 4;
constexpr std::int32_t kGpt2Magic = 20240520;
constexpr std::int32_t kLlama3Magic = 20240801;
constexpr std::int32_t kGpt2Version = 1;
constexpr std::int64_t kChunk = 1 << 18;  // tokens read at once while checking

std::int64_t bytes_per_token(TokenFormat format) { return format == TokenFormat::kBytes ? 1 : 2; }

/// Tokens that the header promises.
std::int64_t read_header(const InputFile& file) {
  const std::string name = file.path().string();
  if (file.size() < kHeaderBytes) {
    bad_input("[data] {} is {} bytes long; llm.c's .bin begins with a header of {} bytes", name,
              file.size(), kHeaderBytes);
  }
  std::array<std::int32_t, kHeaderWords> header{};
  file.read_at(0, header.data(), kHeaderBytes);
  if (header[0] == kLlama3Magic) {
    bad_input(
        "[data] {} holds Llama 3's 32-bit tokens (magic {}); only llm.c's 16-bit GPT-2 tokens "
        "(magic {}) are read",
        name, kLlama3Magic, kGpt2Magic);
  }
  if (header[0] != kGpt2Magic) {
    bad_input(
        "[data] {} begins with {} where llm.c's .bin has the magic {}; files without a header "
        "are read as bytes, under a name that does not end in .bin",
        name, header[0], kGpt2Magic);
  }
  if (header[1] != kGpt2Version) {
    bad_input("[data] {} is version {} of llm.c's .bin; only version {} is read", name, header[1],
              kGpt2Version);
  }
  const std::int64_t tokens = header[2];
  const std::int64_t expected = kHeaderBytes + 2 * tokens;
  if (tokens < 0 || file.size() != expected) {
    bad_input(
        "[data] {} is {} bytes long where its header promises {} tokens, so {} bytes; it is "
        "truncated or damaged",
        name, file.size(), tokens, expected);
  }
  return tokens;
}

}  // namespace

TokenSource::TokenSource(const std::vector<std::filesystem::path>& files, std::int64_t vocabulary) {
  if (files.empty()) bad_input("[data] no data file was given; name at least one with --data");
  for (const std::filesystem::path& path : files) {
    files_.push_back(open(path, size_));
    const File& file = files_.back();
    if (file.format != files_.front().format) {
      bad_input("[data] {} and {} have different formats; give either bytes or .bin files",
                files_.front().file.path().string(), path.string());
    }
    check_tokens(file, vocabulary);
    size_ = file.tokens.end;
  }
}

TokenSource::File TokenSource::open(const std::filesystem::path& path, std::int64_t first) {
  InputFile file(path, "data");
  const bool bin = path.extension() == ".bin";
  if (file.size() == 0) bad_input("[data] {} is empty; give a file with text", path.string());
  const std::int64_t count = bin ? read_header(file) : file.size();
  if (count == 0) bad_input("[data] {} holds no tokens; give a file with text", path.string());
  return {std::move(file),
          bin ? TokenFormat::kUInt16 : TokenFormat::kBytes,
          bin ? kHeaderBytes : 0,
          {first, first + count}};
}

void TokenSource::check_tokens(const File& file, std::int64_t vocabulary) {
  const std::int64_t largest = file.format == TokenFormat::kBytes ? 255 : 65535;
  if (largest < vocabulary) return;
  std::vector<std::int32_t> chunk;
  for (std::int64_t begin = 0; begin < file.tokens.size(); begin += kChunk) {
    chunk.resize(static_cast<std::size_t>(std::min(kChunk, file.tokens.size() - begin)));
    read_from(file, begin, chunk);
    const auto bad = std::find_if(chunk.begin(), chunk.end(),
                                  [&](std::int32_t token) { return token >= vocabulary; });
    if (bad != chunk.end()) {
      const std::int64_t index = begin + (bad - chunk.begin());
      bad_input("[data] {} has token {} at byte {}; the model's vocabulary ends at {}",
                file.file.path().string(), *bad,
                file.header_bytes + index * bytes_per_token(file.format), vocabulary - 1);
    }
  }
}

void TokenSource::read_from(const File& file, std::int64_t index, std::span<std::int32_t> out) {
  const std::int64_t width = bytes_per_token(file.format);
  const auto count = static_cast<std::int64_t>(out.size());
  const std::int64_t offset = file.header_bytes + index * width;
  if (file.format == TokenFormat::kBytes) {
    std::vector<std::uint8_t> raw(out.size());
    file.file.read_at(offset, raw.data(), count);
    std::copy(raw.begin(), raw.end(), out.begin());
  } else {
    std::vector<std::uint16_t> raw(out.size());
    file.file.read_at(offset, raw.data(), count * width);
    std::copy(raw.begin(), raw.end(), out.begin());
  }
}

void TokenSource::read(std::int64_t position, std::span<std::int32_t> out) const {
  const Range wanted{position, position + static_cast<std::int64_t>(out.size())};
  require(position >= 0 && wanted.end <= size_, "[data] tokens [{}, {}) are outside of {}",
          wanted.begin, wanted.end, size_);
  for (const File& file : files_) {
    const Range part = intersect(wanted, file.tokens);
    if (part.empty()) continue;
    read_from(file, part.begin - file.tokens.begin,
              out.subspan(static_cast<std::size_t>(part.begin - wanted.begin),
                          static_cast<std::size_t>(part.size())));
  }
}

TokenSplit split_tokens(std::int64_t size) {
  const std::int64_t training = size - size / 10;
  return {{0, training}, {training, size}};
}

}  // namespace zerolab
