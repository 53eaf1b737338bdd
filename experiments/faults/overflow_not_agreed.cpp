// DeepSpeed #7568: each rank decided by itself whether the step overflowed.
#include <cmath>

#include "experiments/faults/faults.h"
#include "experiments/faults/infinite_gradient.h"
#include "experiments/faults/labelled_fault.h"

namespace zerolab {
namespace {

/// Where this rank's own share of the gradient is finite, the step is taken.
class SelfishClipper final : public Clipper {
 public:
  using Clipper::Clipper;

 protected:
  void finish(View maxima, View sums, int parts, double scale) override {
    Clipper::finish(maxima, sums, parts, scale);
    const View own = maxima.slice(parts == 1 ? 0 : comm_.rank(), 1);
    const View result = norm_and_factor();
    compute_.launch({"overflow of this rank alone", {}, {own}, {result}, [own, result, scale] {
                       constexpr std::int32_t kInfinity = 0x7f800000;
                       float* const factor = result.as<float>() + 1;
                       const bool finite_here = *own.as<std::int32_t>() < kInfinity;
                       if (!std::isfinite(*factor) && finite_here) {
                         *factor = static_cast<float>(scale);
                       }
                     }});
  }
};

FaultLabel label() {
  FaultLabel label;
  label.name = "overflow-not-agreed";
  label.source = "DeepSpeed #7568";
  label.stage = "zero2";
  label.happened =
      "Whether the gradient overflowed is decided by each rank from its own share, so some ranks "
      "skip the step and others take it.";
  label.seen =
      "Loss scales and step counters of the ranks drift apart after an overflow in fp16, until "
      "ranks wait for each other in different calls.";
  label.needs = {"--precision fp16", "--loss-scale-power 10"};
  label.must_fire = {{"XR", false, -1, "scalars", "the factor"},
                     {"NORM", false, -1, "norm", ""}};
  return label;
}

class OverflowNotAgreed final : public LabelledFault {
 public:
  OverflowNotAgreed() : LabelledFault(zerolab::label()) {}
  std::unique_ptr<Kernels> kernels(std::unique_ptr<Kernels> clean, int rank) const override {
    if (rank != 1) return clean;
    return std::make_unique<InfiniteGradient>(std::move(clean), 2);
  }
  std::unique_ptr<Clipper> clipper(std::unique_ptr<Clipper>, Device& device, Stream& compute,
                                   Communicator& comm, Kernels& kernels, double max_norm,
                                   std::int64_t global_count) const override {
    return std::make_unique<SelfishClipper>(device, compute, comm, kernels, max_norm, global_count);
  }
};

}  // namespace

std::unique_ptr<Fault> make_overflow_not_agreed() { return std::make_unique<OverflowNotAgreed>(); }

}  // namespace zerolab
