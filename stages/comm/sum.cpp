// Memory-bound loops: every term is read once and the sum written once, a tile of elements at a
// time that is added up in registers, so that any number of terms and any order runs at memory
// speed.
#include "stages/comm/sum.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "stages/comm/sum_tile.h"
#include "stages/core/convert.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

using namespace tiles;

using Terms = std::span<const std::byte* const>;

template <class T>
Tile<T> tile_in_order(Terms terms, std::size_t offset) {
  Tile<T> sum = load_tile<T>(terms[0] + offset);
  for (const std::byte* term : terms.subspan(1)) sum.add(load_tile<T>(term + offset));
  return sum;
}

template <class T>
Tile<T> tile_as_tree(Terms terms, std::size_t offset) {
  if (terms.size() <= 2) return tile_in_order<T>(terms, offset);
  const std::size_t half = terms.size() / 2;
  Tile<T> sum = tile_as_tree<T>(terms.first(half), offset);
  sum.add(tile_as_tree<T>(terms.subspan(half), offset));
  return sum;
}

// Whole tiles only. 16-bit types pass through a block of fp32 that stays in the first-level cache,
// because narrowing is fast over long runs.
template <class T, Tile<T> (*sum_of)(Terms, std::size_t)>
void sum_whole_tiles(Terms terms, std::byte* out, std::size_t tiles) {
  constexpr std::size_t kTile = Tile<T>::kElements;
  constexpr std::size_t kBlockTiles = 8;
  auto* const target = reinterpret_cast<T*>(out);
  for (std::size_t first = 0; first < tiles; first += kBlockTiles) {
    const std::size_t end = std::min(first + kBlockTiles, tiles);
    if constexpr (kIsWidened<T>) {
      alignas(64) float block[kBlockTiles * kTile];
      for (std::size_t tile = first; tile < end; ++tile) {
        store_tile<T>(sum_of(terms, tile * Tile<T>::kBytes), block + (tile - first) * kTile);
      }
      from_float(block, target + first * kTile, static_cast<std::int64_t>((end - first) * kTile));
    } else {
      for (std::size_t tile = first; tile < end; ++tile) {
        store_tile<T>(sum_of(terms, tile * Tile<T>::kBytes),
                      reinterpret_cast<Sum<T>*>(target + tile * kTile));
      }
    }
  }
}

template <class T, Tile<T> (*sum_of)(Terms, std::size_t)>
void sum_tiles(Terms terms, std::byte* out, std::int64_t count) {
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
  const std::size_t tiles = bytes / Tile<T>::kBytes;
  sum_whole_tiles<T, sum_of>(terms, out, tiles);
  const std::size_t begin = tiles * Tile<T>::kBytes;
  if (begin == bytes) return;
  // The last elements in zero-padded tiles: lanes do not mix, so the bits are those of any cut.
  struct alignas(T) TileBytes {
    std::array<std::byte, Tile<T>::kBytes> bytes{};
  };
  std::vector<TileBytes> padded(terms.size());
  std::vector<const std::byte*> ends;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    std::memcpy(padded[t].bytes.data(), terms[t] + begin, bytes - begin);
    ends.push_back(padded[t].bytes.data());
  }
  TileBytes sum;
  sum_whole_tiles<T, sum_of>(ends, sum.bytes.data(), 1);
  std::memcpy(out + begin, sum.bytes.data(), bytes - begin);
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
  with_element(dtype, [&](auto element) {
    using T = decltype(element);
    sum_tiles<T, tile_in_order<T>>(terms, out, count);
  });
}

void sum_as_tree(DType dtype, std::span<const std::byte* const> terms, std::byte* out,
                 std::int64_t count) {
  require(std::has_single_bit(terms.size()), "[comm] a tree sum of {} terms needs a power of two",
          terms.size());
  with_element(dtype, [&](auto element) {
    using T = decltype(element);
    sum_tiles<T, tile_as_tree<T>>(terms, out, count);
  });
}

}  // namespace zerolab
