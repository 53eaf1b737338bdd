#include "stages/kernels/cpu/dropout.h"

#include <algorithm>
#include <type_traits>

#include "stages/core/philox.h"
#include "stages/kernels/cpu/float_types.h"

namespace zerolab::cpu {
namespace {

constexpr std::int64_t kGrain = 1 << 13;
constexpr std::int64_t kPiece = 1024;  // elements whose scales and fp32 values stay in cache
constexpr std::int64_t kWords = 4;     // that one call of Philox draws

std::uint32_t low(std::int64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::int64_t value) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(value) >> 32U);
}

// Weights and data draw with the key (seed low, seed high), so a step of 0 would meet them.
PhiloxKey key_of(const DropoutMask& mask) {
  return {static_cast<std::uint32_t>(mask.seed),
          static_cast<std::uint32_t>(mask.seed >> 32U) + low(mask.step)};
}

/// The values as fp32: where they lie, or converted into `piece`.
template <class T>
const float* as_fp32(const T* x, std::int64_t count, float* piece) {
  if constexpr (std::is_same_v<T, float>) {
    return x;
  } else {
    to_float(x, piece, count);
    return piece;
  }
}

template <class T>
void drop_piece(const float* scales, const T* x, const T* residual, T* y, std::int64_t count) {
  alignas(64) float x_piece[kPiece], residual_piece[kPiece], y_piece[kPiece];
  const float* const from = as_fp32(x, count, x_piece);
  float* to = y_piece;
  if constexpr (std::is_same_v<T, float>) to = y;
  if (residual == nullptr) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = scales[i] * from[i];
  } else {
    const float* const base = as_fp32(residual, count, residual_piece);
    for (std::int64_t i = 0; i < count; ++i) to[i] = base[i] + scales[i] * from[i];
  }
  if constexpr (!std::is_same_v<T, float>) from_float(y_piece, y, count);
}

}  // namespace

void draw_dropout(const DropoutMask& mask, std::int64_t row, std::int64_t first, std::int64_t count,
                  float* scales) {
  const auto dropped_below = static_cast<std::uint64_t>(mask.probability * 0x1p32);
  const auto kept = static_cast<float>(1.0 / (1.0 - mask.probability));
  const PhiloxKey key = key_of(mask);
  const std::uint32_t sample = low(mask.first_sample + row);
  for (std::int64_t i = 0; i < count;) {
    const std::int64_t group = (first + i) / kWords;
    const auto words = philox({low(group), high(group), sample, mask.site}, key);
    for (std::int64_t word = (first + i) % kWords; word < kWords && i < count; ++word, ++i) {
      scales[i] = words[static_cast<std::size_t>(word)] < dropped_below ? 0.0F : kept;
    }
  }
}

void dropout(ThreadTeam& team, View x, View residual, View y, std::int64_t samples,
             const DropoutMask& mask) {
  const std::int64_t size = x.count / samples;
  with_float_type(x, [&](auto* from) {
    using T = std::remove_pointer_t<decltype(from)>;
    const T* const base = residual.empty() ? nullptr : residual.as<T>();
    T* const to = y.as<T>();
    team.for_ranges(x.count, kGrain, [=](Range r) {
      alignas(64) float scales[kPiece];
      for (std::int64_t i = r.begin; i < r.end;) {
        const std::int64_t row = i / size;
        const std::int64_t count = std::min({kPiece, r.end - i, (row + 1) * size - i});
        draw_dropout(mask, row, i - row * size, count, scales);
        drop_piece(scales, from + i, base == nullptr ? nullptr : base + i, to + i, count);
        i += count;
      }
    });
  });
}

}  // namespace zerolab::cpu
