// OLMo-core #828, DeepSpeed #6811: the state of the random generator is not put back before the
// activations of a checkpoint are computed again, so another mask is drawn, and backward belongs to
// a function that forward has not computed.
#include <set>

#include "experiments/faults/faults.h"
#include "experiments/faults/labelled_fault.h"
#include "stages/kernels/forwarding_kernels.h"

namespace zerolab {
namespace {

constexpr std::uint64_t kGeneratorMovedOn = 0x9e3779b97f4a7c15;

/// Draws another mask where forward asks for the same one a second time, and from then on.
class ForgetfulKernels final : public ForwardingKernels {
 public:
  using ForwardingKernels::ForwardingKernels;

  void attention(Stream& stream, View qkv, View y, View saved, AttentionShape shape,
                 const DropoutMask& mask) override {
    inner().attention(stream, qkv, y, saved, shape, drawn(mask));
  }
  void attention_backward(Stream& stream, View dy, View qkv, View y, View saved, View dqkv,
                          AttentionShape shape, const DropoutMask& mask) override {
    inner().attention_backward(stream, dy, qkv, y, saved, dqkv, shape, present(mask));
  }
  void dropout(Stream& stream, View x, View residual, View y, std::int64_t samples,
               const DropoutMask& mask) override {
    // Only forward adds to a residual; the embedding is never computed again.
    const bool forward = !residual.empty();
    inner().dropout(stream, x, residual, y, samples, forward ? drawn(mask) : present(mask));
  }

 private:
  DropoutMask drawn(const DropoutMask& mask) {
    if (mask.step != step_ || mask.first_sample != first_sample_) {
      step_ = mask.step;
      first_sample_ = mask.first_sample;
      once_.clear();
      again_.clear();
    }
    if (!once_.insert(mask.site).second) again_.insert(mask.site);
    return present(mask);
  }
  DropoutMask present(DropoutMask mask) const {
    if (again_.contains(mask.site)) mask.seed += kGeneratorMovedOn;
    return mask;
  }

  std::int64_t step_ = 0, first_sample_ = 0;  // of the micro-batch on its way
  std::set<std::uint32_t> once_, again_;      // sites
};

FaultLabel label() {
  FaultLabel label;
  label.name = "dropout-differs-on-recompute";
  label.source = "OLMo-core #828, DeepSpeed #6811";
  label.stage = "zero3";
  label.happened =
      "Recomputing the activations of a checkpoint draws another dropout mask than the forward "
      "pass did, so gradients are those of another network.";
  label.seen =
      "With activation checkpointing and dropout the loss falls more slowly and the gradient norm "
      "is larger; each without the other is right.";
  label.needs = {"--dropout 0.2", "--checkpoint-every 1", "--check IG"};
  label.must_fire = {{"IG", false, 1, "gradients", "without activation checkpoints"},
                     {"REF", true, 1, "gradients", ""}};
  return label;
}

class DropoutDiffersOnRecompute final : public LabelledFault {
 public:
  DropoutDiffersOnRecompute() : LabelledFault(zerolab::label()) {}
  std::unique_ptr<Kernels> kernels(std::unique_ptr<Kernels> clean, int) const override {
    return std::make_unique<ForgetfulKernels>(std::move(clean));
  }
};

}  // namespace

std::unique_ptr<Fault> make_dropout_differs_on_recompute() {
  return std::make_unique<DropoutDiffersOnRecompute>();
}

}  // namespace zerolab
