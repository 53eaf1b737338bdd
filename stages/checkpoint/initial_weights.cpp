#include <algorithm>

#include "stages/checkpoint/weights.h"
#include "stages/core/philox.h"

namespace zerolab {

namespace {

std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32U); }

// The counter is Kernels::normal's: (element / 4, stream), four neighbours a call.
void draw_normals(float deviation, std::uint64_t seed, std::uint64_t stream, Range elements,
                  float* dst) {
  std::array<float, 4> four{};
  for (std::int64_t i = elements.begin; i < elements.end; ++i) {
    const auto element = static_cast<std::uint64_t>(i);
    if (i == elements.begin || element % 4 == 0) {
      four = normals({low(element / 4), high(element / 4), low(stream), high(stream)},
                     {low(seed), high(seed)});
    }
    dst[i - elements.begin] = deviation * four[element % 4];
  }
}

}  // namespace

InitialWeights::InitialWeights(ParameterLayout layout, std::uint64_t seed)
    : layout_(std::move(layout)), seed_(seed) {}

void InitialWeights::read(int tensor, Range elements, float* dst) const {
  const TensorSpec& spec = layout_.tensor(tensor);
  switch (spec.init) {
    case Init::kNormal:
      draw_normals(spec.deviation, seed_, static_cast<std::uint64_t>(tensor), elements, dst);
      break;
    case Init::kZeros:
    case Init::kOnes:
      std::fill_n(dst, elements.size(), spec.init == Init::kOnes ? 1.0F : 0.0F);
      break;
  }
}

}  // namespace zerolab
