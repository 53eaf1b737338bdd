#include "stages/kernels/cpu/fingerprint.h"

#include <bit>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "stages/kernels/cpu/float_types.h"
#include "stages/kernels/cpu/segments.h"

namespace zerolab::cpu {
namespace {

constexpr std::int64_t kGrain = 1 << 16;

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint32_t bits_of(BFloat16 value) { return value.bits; }
std::uint32_t bits_of(Float16 value) { return value.bits; }

#if defined(__AVX2__)
// Written out because GCC multiplies 64-bit lanes with three multiplications; a factor below 2³²
// needs two.
__m256i times(__m256i x, std::uint64_t factor) {
  const __m256i f = _mm256_set1_epi64x(static_cast<long long>(factor));
  const __m256i high = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), f);
  return _mm256_add_epi64(_mm256_mul_epu32(x, f), _mm256_slli_epi64(high, 32));
}

__m256i mix(__m256i index_hash, __m256i bits) {
  __m256i h = _mm256_xor_si256(index_hash, bits);
  h = times(_mm256_xor_si256(h, _mm256_srli_epi64(h, 32)), kFingerprintFactor1);
  h = times(_mm256_xor_si256(h, _mm256_srli_epi64(h, 29)), kFingerprintFactor2);
  return _mm256_xor_si256(h, _mm256_srli_epi64(h, 32));
}

/// Four bit patterns, zero-extended.
__m256i four(const float* x) {
  return _mm256_cvtepu32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
}
template <class SixteenBit>
__m256i four(const SixteenBit* x) {
  return _mm256_cvtepu16_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(x)));
}

/// The first count / 4 · 4 elements.
template <class T>
std::uint64_t sum_of_fours(const T* x, std::int64_t first_index, std::int64_t count) {
  std::uint64_t start[4];
  for (std::uint64_t lane = 0; lane < 4; ++lane) {
    start[lane] = (static_cast<std::uint64_t>(first_index) + lane + 1) * kFingerprintIndexFactor;
  }
  __m256i index_hash = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(start));
  const __m256i step = _mm256_set1_epi64x(static_cast<long long>(4 * kFingerprintIndexFactor));
  __m256i sum = _mm256_setzero_si256();
  for (std::int64_t i = 0; i + 4 <= count; i += 4) {
    sum = _mm256_add_epi64(sum, mix(index_hash, four(x + i)));
    index_hash = _mm256_add_epi64(index_hash, step);
  }
  std::uint64_t lanes[4];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes), sum);
  return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}
#else
template <class T>
std::uint64_t sum_of_fours(const T* x, std::int64_t first_index, std::int64_t count) {
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < count / 4 * 4; ++i) {
    sum += fingerprint_of_element(first_index + i, bits_of(x[i]));
  }
  return sum;
}
#endif

template <class T>
std::uint64_t sum_of_elements(const T* x, std::int64_t first_index, std::int64_t count) {
  std::uint64_t sum = sum_of_fours(x, first_index, count);
  for (std::int64_t i = count / 4 * 4; i < count; ++i) {
    sum += fingerprint_of_element(first_index + i, bits_of(x[i]));
  }
  return sum;
}

}  // namespace

void fingerprint(ThreadTeam& team, View x, const std::vector<Segment>& segments,
                 std::uint64_t* out) {
  const std::vector<Segment> pieces = pieces_of(segments, kGrain);
  std::vector<std::uint64_t> sums(pieces.size());
  with_float_type(x, [&](auto* data) {
    team.for_each(static_cast<std::int64_t>(pieces.size()), [&](std::int64_t i) {
      const Segment& piece = pieces[static_cast<std::size_t>(i)];
      sums[static_cast<std::size_t>(i)] =
          sum_of_elements(data + piece.flat_begin, piece.tensor_begin, piece.count);
    });
  });
  for (std::size_t i = 0; i < pieces.size(); ++i) out[pieces[i].tensor] += sums[i];
}

}  // namespace zerolab::cpu
