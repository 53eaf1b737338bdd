// DeepSpeed #8035: bf16 has fp32's range, so nobody looked for infinities.
#include <cmath>

#include "experiments/faults/faults.h"
#include "experiments/faults/infinite_gradient.h"
#include "experiments/faults/labelled_fault.h"

namespace zerolab {
namespace {

/// A gradient that is not finite is applied like any other.
class UncheckedClipper final : public Clipper {
 public:
  using Clipper::Clipper;

 protected:
  void finish(View maxima, View sums, int parts, double scale) override {
    Clipper::finish(maxima, sums, parts, scale);
    const View result = norm_and_factor();
    compute_.launch({"no look for infinities", {}, {}, {result}, [result, scale] {
                       float* const factor = result.as<float>() + 1;
                       if (!std::isfinite(*factor)) *factor = static_cast<float>(scale);
                     }});
  }
};

FaultLabel label() {
  FaultLabel label;
  label.name = "inf-unchecked-bf16";
  label.source = "DeepSpeed #8035";
  label.stage = "zero1";
  label.happened =
      "In bf16 the gradient is not checked for infinities, so that a single one goes into the "
      "optimizer's moments.";
  label.seen = "After one bad batch the moments, and soon all parameters, are NaN for ever.";
  label.needs = {"--precision bf16"};
  label.must_fire = {{"NORM", false, -1, "norm", "is not finite, but it was multiplied by"},
                     {"REF", true, -1, "", ""}};
  label.visible_in_loss = true;
  return label;
}

class InfUncheckedBf16 final : public LabelledFault {
 public:
  InfUncheckedBf16() : LabelledFault(zerolab::label()) {}
  std::unique_ptr<Kernels> kernels(std::unique_ptr<Kernels> clean, int rank) const override {
    if (rank != 0) return clean;
    return std::make_unique<InfiniteGradient>(std::move(clean), 2);
  }
  std::unique_ptr<Clipper> clipper(std::unique_ptr<Clipper>, Device& device, Stream& compute,
                                   Communicator& comm, Kernels& kernels, double max_norm,
                                   std::int64_t global_count) const override {
    return std::make_unique<UncheckedClipper>(device, compute, comm, kernels, max_norm,
                                              global_count);
  }
};

}  // namespace

std::unique_ptr<Fault> make_inf_unchecked_bf16() { return std::make_unique<InfUncheckedBf16>(); }

}  // namespace zerolab
