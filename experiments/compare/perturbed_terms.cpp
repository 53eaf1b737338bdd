#include "experiments/compare/perturbed_terms.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stages/core/philox.h"
#include "stages/parallel/forwarding_stage.h"

namespace zerolab {
namespace {

struct OwnedStage {
  std::unique_ptr<Stage> owned;
};

class PerturbedTerms final : OwnedStage, public ForwardingStage {
 public:
  PerturbedTerms(std::unique_ptr<Stage> clean, const StageParts& parts, double relative,
                 std::uint64_t seed)
      : OwnedStage{std::move(clean)},
        ForwardingStage(*owned),
        compute_(parts.compute),
        kernels_(parts.kernels),
        relative_(relative),
        key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)} {}

  void begin(const MicroBatch& micro_batch) override {
    reduces_ = micro_batch.reduce;
    inner_.begin(micro_batch);
  }
  void step(const StepSettings& settings) override {
    ++steps_;
    inner_.step(settings);
  }

  void gradients_ready(const Use& use) override {
    if (reduces_) perturb(inner_.gradients(use), static_cast<std::uint32_t>(use.unit));
    inner_.gradients_ready(use);
  }

 private:
  void perturb(View gradients, std::uint32_t unit) {
    std::vector<float> values(static_cast<std::size_t>(gradients.count));
    kernels_.download_fp32(compute_, gradients, values.data());
    compute_.synchronize();
    for (std::size_t first = 0; first < values.size(); first += 128) {
      // One bit an element, the same for all terms of a sum.
      const auto words = philox({static_cast<std::uint32_t>(first / 128), unit, steps_, 0}, key_);
      const std::size_t end = std::min(first + 128, values.size());
      for (std::size_t i = first; i < end; ++i) {
        const bool up = (words[(i - first) / 32] >> ((i - first) % 32) & 1U) != 0;
        const auto value = static_cast<double>(values[i]);
        const double error = relative_ * std::abs(value);
        values[i] = static_cast<float>(up ? value + error : value - error);
      }
    }
    kernels_.upload_fp32(compute_, values.data(), gradients);
  }

  Stream& compute_;
  Kernels& kernels_;
  double relative_;
  PhiloxKey key_;
  std::uint32_t steps_ = 0;
  bool reduces_ = true;
};

}  // namespace

StageFactory with_perturbed_terms(StageFactory clean, double relative, std::uint64_t seed) {
  return [clean = std::move(clean), relative, seed](const StageParts& parts) {
    return std::make_unique<PerturbedTerms>(clean(parts), parts, relative, seed);
  };
}

}  // namespace zerolab
