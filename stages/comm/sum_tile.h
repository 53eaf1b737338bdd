/// \file
/// A handful of elements that are loaded, added in registers and stored together; internal to
/// sum.cpp.
#pragma once

#if defined(__AVX2__) && defined(__F16C__)
#include <immintrin.h>
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "stages/core/convert.h"

namespace zerolab::tiles {

/// What the elements of type T are added in. Unsigned for integers: wrapping must be defined.
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

// The vectors of the instruction set.
#if defined(__AVX2__)
constexpr std::size_t kVectorBytes = 32;
#else
constexpr std::size_t kVectorBytes = 16;
#endif
/// Two cache lines of each term, so that the prefetcher follows every one of them.
template <class T>
constexpr std::size_t kVectors = 128 / kVectorBytes * sizeof(Sum<T>) / sizeof(T);

/// Some elements of one array as they are added. The loops over its vectors are unrolled, so that
/// it lives in registers.
template <class T>
struct Tile {
  typedef Sum<T> Vector __attribute__((vector_size(kVectorBytes)));
  static constexpr std::size_t kLanes = kVectorBytes / sizeof(Sum<T>);
  static constexpr std::size_t kElements = kVectors<T> * kLanes;
  static constexpr std::size_t kBytes = kElements * sizeof(T);  // in memory
  Vector vectors[kVectors<T>];

  void add(const Tile& other) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kVectors<T>; ++i) vectors[i] += other.vectors[i];
  }
};

/// Whether T is added as fp32 because it is a 16-bit type.
template <class T>
constexpr bool kIsWidened = sizeof(T) != sizeof(Sum<T>);

/// One vector from unaligned memory: as it is, or widened to fp32.
template <class T>
inline typename Tile<T>::Vector load(const std::byte* from) {
  using Vector = typename Tile<T>::Vector;
  if constexpr (!kIsWidened<T>) {
    typedef Sum<T> Unaligned
        __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
    return *reinterpret_cast<const Unaligned*>(from);
  } else {
#if defined(__AVX2__) && defined(__F16C__)
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    if constexpr (std::is_same_v<T, BFloat16>) {
      return std::bit_cast<Vector>(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16));
    } else {
      return std::bit_cast<Vector>(_mm256_cvtph_ps(half));
    }
#else
    float wide[Tile<T>::kLanes];
    to_float(reinterpret_cast<const T*>(from), wide, Tile<T>::kLanes);
    return std::bit_cast<Vector>(wide);
#endif
  }
}

template <class T>
inline Tile<T> load_tile(const std::byte* from) {
  Tile<T> tile;
#pragma GCC unroll 16
  for (std::size_t i = 0; i < kVectors<T>; ++i) {
    tile.vectors[i] = load<T>(from + i * Tile<T>::kLanes * sizeof(T));
  }
  return tile;
}

/// As it was added: not narrowed.
template <class T>
inline void store_tile(const Tile<T>& tile, Sum<T>* to) {
  typedef Sum<T> Unaligned
      __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
#pragma GCC unroll 16
  for (std::size_t i = 0; i < kVectors<T>; ++i) {
    *reinterpret_cast<Unaligned*>(to + i * Tile<T>::kLanes) = tile.vectors[i];
  }
}

}  // namespace zerolab::tiles
