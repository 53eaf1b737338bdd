#include "experiments/checks/element_sample.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "stages/core/philox.h"

namespace zerolab {
namespace {

constexpr std::int64_t kRunLength = 64;

/// Uniform in [0, bound), up to 2⁻³².
std::int64_t draw(std::int64_t bound, std::uint64_t seed, std::int64_t step, int tensor,
                  std::int64_t stretch) {
  const auto bits =
      philox({static_cast<std::uint32_t>(stretch), static_cast<std::uint32_t>(tensor),
              static_cast<std::uint32_t>(step), 0x5A3D1EU},
             {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)})[0];
  return static_cast<std::int64_t>(static_cast<double>(bits) * 0x1p-32 *
                                   static_cast<double>(bound));
}

}  // namespace

void ElementSample::append(int tensor, Range elements) {
  runs_.push_back({tensor, elements, count_});
  count_ += elements.size();
}

ElementSample ElementSample::all(const ParameterLayout& layout) {
  ElementSample sample;
  for (int t = 0; t < static_cast<int>(layout.tensors().size()); ++t) {
    if (!layout.tensor(t).frozen) sample.append(t, {0, layout.tensor(t).count()});
  }
  return sample;
}

ElementSample ElementSample::drawn(const ParameterLayout& layout, double fraction,
                                   std::uint64_t seed, std::int64_t step) {
  ElementSample sample;
  for (int t = 0; t < static_cast<int>(layout.tensors().size()); ++t) {
    if (layout.tensor(t).frozen) continue;
    const std::int64_t count = layout.tensor(t).count();
    const auto wanted = static_cast<std::int64_t>(
        std::ceil(fraction * static_cast<double>(count) / static_cast<double>(kRunLength)));
    const std::int64_t stretches =
        std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(1, count / kRunLength));
    for (std::int64_t s = 0; s < stretches; ++s) {
      const Range stretch{count * s / stretches, count * (s + 1) / stretches};
      const std::int64_t length = std::min(kRunLength, stretch.size());
      const std::int64_t begin =
          stretch.begin + draw(stretch.size() - length + 1, seed, step, t, s);
      sample.append(t, {begin, begin + length});
    }
  }
  return sample;
}

std::vector<SampledRun> ElementSample::within(int tensor, Range elements) const {
  std::vector<SampledRun> found;
  auto run = std::partition_point(runs_.begin(), runs_.end(), [&](const SampledRun& r) {
    return std::tie(r.tensor, r.elements.end) <= std::tie(tensor, elements.begin);
  });
  for (; run != runs_.end() && run->tensor == tensor && run->elements.begin < elements.end; ++run) {
    const Range part = intersect(run->elements, elements);
    if (part.empty()) continue;
    found.push_back({tensor, part, run->offset + part.begin - run->elements.begin});
  }
  return found;
}

}  // namespace zerolab
