#include "stages/kernels/cpu/fingerprint.h"

#include <bit>

#include "stages/kernels/cpu/float_types.h"
#include "stages/kernels/cpu/segments.h"

namespace zerolab::cpu {
namespace {

constexpr std::int64_t kGrain = 1 << 16;

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint32_t bits_of(BFloat16 value) { return value.bits; }
std::uint32_t bits_of(Float16 value) { return value.bits; }

template <class T>
std::uint64_t sum_of_elements(const T* x, std::int64_t first_index, std::int64_t count) {
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
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
