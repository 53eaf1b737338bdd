#include "stages/kernels/cpu/elementwise.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "stages/kernels/cpu/float_types.h"

namespace zerolab::cpu {
namespace {

constexpr std::int64_t kGrain = 1 << 16;  // elements, or bytes of plain moves

template <class From, class To>
void convert(const From* src, To* dst, std::int64_t count) {
  if constexpr (std::is_same_v<From, float>) {
    from_float(src, dst, count);
  } else if constexpr (std::is_same_v<To, float>) {
    to_float(src, dst, count);
  } else {  // between the 16-bit types: fp32 holds both exactly, so this rounds once
    constexpr std::int64_t kPiece = 1024;
    alignas(64) float piece[kPiece];
    for (std::int64_t i = 0; i < count; i += kPiece) {
      const std::int64_t n = std::min(kPiece, count - i);
      to_float(src + i, piece, n);
      from_float(piece, dst + i, n);
    }
  }
}

template <class From, class To>
void convert_plainly(ThreadTeam& team, const From* src, To* dst, std::int64_t count) {
  team.for_ranges(count, kGrain, [=](Range r) {
    for (std::int64_t i = r.begin; i < r.end; ++i) dst[i] = static_cast<To>(src[i]);
  });
}

void add_piece(const float* __restrict src, float* __restrict dst, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) dst[i] += src[i];
}
template <class T>
void add_piece(const float* src, T* dst, std::int64_t count) {
  constexpr std::int64_t kPiece = 1024;
  alignas(64) float sum[kPiece];
  for (std::int64_t i = 0; i < count; i += kPiece) {
    const std::int64_t n = std::min(kPiece, count - i);
    to_float(dst + i, sum, n);
    add_piece(src + i, sum, n);
    from_float(sum, dst + i, n);
  }
}

}  // namespace

void zero(ThreadTeam& team, View dst) {
  team.for_ranges(dst.bytes(), 8 * kGrain, [=](Range r) {
    std::memset(dst.data + r.begin, 0, static_cast<std::size_t>(r.size()));
  });
}

void copy(ThreadTeam& team, View src, View dst) {
  team.for_ranges(dst.bytes(), 8 * kGrain, [=](Range r) {
    std::memcpy(dst.data + r.begin, src.data + r.begin, static_cast<std::size_t>(r.size()));
  });
}

void cast(ThreadTeam& team, View src, View dst) {
  if (src.dtype == dst.dtype) return copy(team, src, dst);
  if (src.dtype == DType::kFloat64 && dst.dtype == DType::kFloat32) {
    return convert_plainly(team, src.as<double>(), dst.as<float>(), dst.count);
  }
  if (src.dtype == DType::kFloat32 && dst.dtype == DType::kFloat64) {
    return convert_plainly(team, src.as<float>(), dst.as<double>(), dst.count);
  }
  with_float_type(src, [&](auto* from) {
    with_float_type(dst, [&](auto* to) {
      team.for_ranges(dst.count, kGrain,
                      [=](Range r) { convert(from + r.begin, to + r.begin, r.size()); });
    });
  });
}

void add(ThreadTeam& team, View src, View dst) {
  with_float_type(src, [&](auto* x) {
    with_float_type(dst, [&](auto* sum) {
      team.for_ranges(dst.count, kGrain, [=](Range r) {
        auto* out = sum + r.begin;
        for_fp32_pieces(x + r.begin, r.size(), [&](const float* piece, std::int64_t n) {
          add_piece(piece, out, n);
          out += n;
        });
      });
    });
  });
}

void fill(ThreadTeam& team, View dst, float value) {
  with_float_type(dst, [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    const T element = from_float<T>(value);
    team.for_ranges(dst.count, kGrain,
                    [=](Range r) { std::fill(p + r.begin, p + r.end, element); });
  });
}

}  // namespace zerolab::cpu
