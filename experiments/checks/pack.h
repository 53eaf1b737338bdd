/// \file
/// Plain values as text, to travel through RankContext::gather_texts. Both ends are the same
/// binary, so values keep their bytes.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "stages/core/error.h"

namespace zerolab {

template <class T>
requires std::is_trivially_copyable_v<T>
void pack(std::string& text, const T& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

/// The length first, then the elements.
template <class T>
requires std::is_trivially_copyable_v<T>
void pack_all(std::string& text, std::span<const T> values) {
  pack(text, static_cast<std::uint64_t>(values.size()));
  text.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

/// Reads back, in the same order, what `pack` and `pack_all` wrote.
class Unpacker {
 public:
  explicit Unpacker(std::string_view text) : rest_(text) {}

  bool empty() const { return rest_.empty(); }

  template <class T>
  requires std::is_trivially_copyable_v<T> T take() {
    T value;
    std::memcpy(&value, bytes(sizeof(T)), sizeof(T));
    return value;
  }

  template <class T>
  requires std::is_trivially_copyable_v<T> std::vector<T> take_all() {
    const auto count = take<std::uint64_t>();
    require(count <= rest_.size() / sizeof(T), "[checks] a packed list is longer than its text");
    std::vector<T> values(count);
    if (count > 0) std::memcpy(values.data(), bytes(count * sizeof(T)), count * sizeof(T));
    return values;
  }

 private:
  const char* bytes(std::size_t size) {
    require(size <= rest_.size(), "[checks] a packed text ends too early");
    const char* const begin = rest_.data();
    rest_.remove_prefix(size);
    return begin;
  }

  std::string_view rest_;
};

}  // namespace zerolab
