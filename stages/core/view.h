/// \file
/// A typed, contiguous, non-owning range of device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stages/core/dtype.h"
#include "stages/core/error.h"

namespace zerolab {

/// Half-open range [begin, end) of element indices.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t size() const { return end - begin; }
  bool empty() const { return end <= begin; }
  bool contains(std::int64_t index) const { return begin <= index && index < end; }
  bool operator==(const Range&) const = default;
};

/// Empty when the two do not overlap.
constexpr Range intersect(Range a, Range b) {
  const Range r{a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
  return r.end < r.begin ? Range{r.begin, r.begin} : r;
}

constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// A typed, contiguous, non-owning range of device memory. Copying a view copies no data.
///
/// Stage code moves views around and never looks inside; only kernels and transports call `as`.
struct View {
  std::byte* data = nullptr;
  DType dtype = DType::kFloat32;
  std::int64_t count = 0;  ///< elements

  std::int64_t bytes() const { return count * static_cast<std::int64_t>(size_of(dtype)); }
  bool empty() const { return count == 0; }

  /// Elements [begin, begin + size). \throws std::logic_error outside the view.
  View slice(std::int64_t begin, std::int64_t size) const {
    require(begin >= 0 && size >= 0 && begin + size <= count,
            "[view] elements [{}, {}) are outside a view of {}", begin, begin + size, count);
    return {data + begin * static_cast<std::int64_t>(size_of(dtype)), dtype, size};
  }
  View slice(Range range) const { return slice(range.begin, range.size()); }

  /// The elements as T. \throws std::logic_error when T is not the view's dtype.
  template <class T>
  T* as() const {
    require(dtype_of<T> == dtype, "[view] a view of {} was read as another type", name_of(dtype));
    return reinterpret_cast<T*>(data);
  }
};

}  // namespace zerolab
