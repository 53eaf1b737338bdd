// Memory-bound loops: each source is read once, block by block, and the running sum of a block
// stays in the first-level cache, so that any number of terms costs one write.
#include "stages/comm/sum.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "stages/core/convert.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr std::int64_t kBlock = 512;  // elements; 2 KiB of fp32

// What the elements of type T are added in. Unsigned for integers: wrapping must be defined.
template <class T>
struct Arithmetic {
  using Type = T;
};
template <>
struct Arithmetic<BFloat16> {
  using Type = float;
};
template <>
struct Arithmetic<Float16> {
  using Type = float;
};
template <>
struct Arithmetic<std::int32_t> {
  using Type = std::uint32_t;
};
template <>
struct Arithmetic<std::int64_t> {
  using Type = std::uint64_t;
};
template <class T>
using Sum = typename Arithmetic<T>::Type;

template <class T>
constexpr bool kIs16Bit = std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>;

template <class T>
void load(const std::byte* term, std::int64_t first, std::int64_t count, Sum<T>* block) {
  const auto* source = reinterpret_cast<const T*>(term) + first;
  if constexpr (kIs16Bit<T>) {
    to_float(source, block, count);
  } else {
    std::memcpy(block, source, static_cast<std::size_t>(count) * sizeof(T));
  }
}

template <class T>
void add(const std::byte* term, std::int64_t first, std::int64_t count, Sum<T>* block) {
  if constexpr (kIs16Bit<T>) {
    float converted[kBlock];
    load<T>(term, first, count, converted);
    for (std::int64_t i = 0; i < count; ++i) block[i] += converted[i];
  } else {
    const auto* source = reinterpret_cast<const Sum<T>*>(term) + first;
    for (std::int64_t i = 0; i < count; ++i) block[i] += source[i];
  }
}

template <class T>
void store(const Sum<T>* block, std::int64_t first, std::int64_t count, std::byte* out) {
  auto* target = reinterpret_cast<T*>(out) + first;
  if constexpr (kIs16Bit<T>) {
    from_float(block, target, count);
  } else {
    std::memcpy(target, block, static_cast<std::size_t>(count) * sizeof(T));
  }
}

// Two terms of a type that is added as it is: no block in between.
template <class T>
void add_two(const std::byte* a, const std::byte* b, std::byte* out, std::int64_t count) {
  const auto* x = reinterpret_cast<const Sum<T>*>(a);
  const auto* y = reinterpret_cast<const Sum<T>*>(b);
  auto* z = reinterpret_cast<Sum<T>*>(out);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) z[i] = x[i] + y[i];
}

template <class T>
void in_order(std::span<const std::byte* const> terms, std::byte* out, std::int64_t count) {
  if constexpr (!kIs16Bit<T>) {
    if (terms.size() == 2) return add_two<T>(terms[0], terms[1], out, count);
  }
  alignas(64) Sum<T> block[kBlock];
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const std::int64_t size = std::min(kBlock, count - first);
    load<T>(terms[0], first, size, block);
    for (const std::byte* term : terms.subspan(1)) add<T>(term, first, size, block);
    store<T>(block, first, size, out);
  }
}

// block = the sum of the terms over a balanced tree
template <class T>
void tree_block(std::span<const std::byte* const> terms, std::int64_t first, std::int64_t size,
                Sum<T>* block) {
  if (terms.size() <= 2) {
    load<T>(terms[0], first, size, block);
    if (terms.size() == 2) add<T>(terms[1], first, size, block);
    return;
  }
  const std::size_t half = terms.size() / 2;
  tree_block<T>(terms.first(half), first, size, block);
  alignas(64) Sum<T> right[kBlock];
  tree_block<T>(terms.subspan(half), first, size, right);
  for (std::int64_t i = 0; i < size; ++i) block[i] += right[i];
}

template <class T>
void as_tree(std::span<const std::byte* const> terms, std::byte* out, std::int64_t count) {
  alignas(64) Sum<T> block[kBlock];
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const std::int64_t size = std::min(kBlock, count - first);
    tree_block<T>(terms, first, size, block);
    store<T>(block, first, size, out);
  }
}

// Calls `f` with a value of the element type; int8 and byte have no sums.
template <class F>
void with_element(DType dtype, F f) {
  switch (dtype) {
    case DType::kFloat32:
      return f(float{});
    case DType::kBFloat16:
      return f(BFloat16{});
    case DType::kFloat16:
      return f(Float16{});
    case DType::kFloat64:
      return f(double{});
    case DType::kInt32:
      return f(std::int32_t{});
    case DType::kInt64:
      return f(std::int64_t{});
    case DType::kUInt64:
      return f(std::uint64_t{});
    case DType::kInt8:
    case DType::kByte:
      break;
  }
  require(false, "[comm] {} has no sum; it is only moved", name_of(dtype));
}

}  // namespace

bool has_sum(DType dtype) { return dtype != DType::kInt8 && dtype != DType::kByte; }

void sum_in_order(DType dtype, std::span<const std::byte* const> terms, std::byte* out,
                  std::int64_t count) {
  with_element(dtype, [&](auto element) { in_order<decltype(element)>(terms, out, count); });
}

void sum_as_tree(DType dtype, std::span<const std::byte* const> terms, std::byte* out,
                 std::int64_t count) {
  require(std::has_single_bit(terms.size()), "[comm] a tree sum of {} terms needs a power of two",
          terms.size());
  with_element(dtype, [&](auto element) { as_tree<decltype(element)>(terms, out, count); });
}

}  // namespace zerolab
