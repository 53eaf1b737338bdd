#include "stages/kernels/cpu/random.h"

#include <type_traits>

#include "stages/core/philox.h"
#include "stages/kernels/cpu/float_types.h"

namespace zerolab::cpu {
namespace {

constexpr std::int64_t kGrain = 1 << 14;

std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32U); }

std::array<float, 4> draw(const NormalSource& s, std::uint64_t group) {
  return normals({low(group), high(group), low(s.stream_id), high(s.stream_id)},
                 {low(s.seed), high(s.seed)});
}

}  // namespace

void normal(ThreadTeam& team, View dst, NormalSource source, std::int64_t first_index) {
  with_float_type(dst, [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    team.for_ranges(dst.count, kGrain, [=](Range r) {
      auto element = static_cast<std::uint64_t>(first_index + r.begin);
      auto four = draw(source, element / 4);
      for (std::int64_t i = r.begin; i < r.end; ++i, ++element) {
        if (element % 4 == 0) four = draw(source, element / 4);
        p[i] = from_float<T>(source.deviation * four[element % 4]);
      }
    });
  });
}

}  // namespace zerolab::cpu
