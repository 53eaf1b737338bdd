#include "experiments/compare/perturbed_weights.h"

#include <cmath>

namespace zerolab {
namespace {

constexpr double kUnitRoundoff = 0x1p-24;

/// Adds the perturbation to what another source writes. An element's perturbation does not depend
/// on who writes it.
class PerturbedParameters final : public InitialParameters {
 public:
  PerturbedParameters(const StageParts& parts, double relative, std::uint64_t seed)
      : device_(parts.device),
        kernels_(parts.kernels),
        layout_(parts.layout),
        clean_(parts.initial),
        relative_(relative),
        seed_(seed) {}

  using InitialParameters::write;
  void write(Stream& stream, int tensor, Range elements, View dst) override {
    clean_.write(stream, tensor, elements, dst);
    const TensorSpec& spec = layout_.tensor(tensor);
    // A zero has no rounding error of its own; norm weights start at one.
    if (spec.init == Init::kZeros) return;
    const double size = spec.init == Init::kOnes ? 1.0 : static_cast<double>(spec.deviation);
    const Buffer noise = device_.allocate(DType::kFloat32, elements.size(), Category::kChecks,
                                          "perturbation", stream);
    kernels_.normal(stream, noise.view(), static_cast<float>(relative_ * size), seed_,
                    static_cast<std::uint64_t>(tensor), elements.begin);
    kernels_.add(stream, noise.view(), dst);
  }

 private:
  Device& device_;
  Kernels& kernels_;
  const ParameterLayout& layout_;
  InitialParameters& clean_;
  double relative_;
  std::uint64_t seed_;
};

}  // namespace

double product_perturbation(std::int64_t inner) {
  return 4 * std::sqrt(static_cast<double>(inner)) * kUnitRoundoff;
}

StageFactory from_perturbed_weights(StageFactory clean, double relative, std::uint64_t seed) {
  return [clean = std::move(clean), relative, seed](const StageParts& parts) {
    // Stages write their initial parameters while they are constructed, and never again.
    PerturbedParameters initial(parts, relative, seed);
    return clean({parts.device, parts.compute, parts.comm, parts.kernels, parts.layout, initial,
                  parts.clipper, parts.settings});
  };
}

}  // namespace zerolab
