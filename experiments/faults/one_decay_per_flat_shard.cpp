// verl #5070, fairscale #697: a flat shard is one parameter to the optimizer, so it has one weight
// decay, and the groups that its tensors belonged to are gone.
#include "stages/kernels/forwarding_kernels.h"
#include "experiments/faults/faults.h"
#include "experiments/faults/labelled_fault.h"

namespace zerolab {
namespace {

/// Gives all tensors of a slice the group of its first.
class OneGroupKernels final : public ForwardingKernels {
 public:
  using ForwardingKernels::ForwardingKernels;
  void adamw(Stream& stream, View p, View g, View m, View v, View factor, const AdamWRule& rule,
             const std::vector<Segment>& segments) override {
    std::vector<Segment> alike = segments;
    for (Segment& segment : alike) segment.group = segments.front().group;
    inner().adamw(stream, p, g, m, v, factor, rule, alike);
  }
};

FaultLabel label() {
  FaultLabel label;
  label.name = "one-decay-per-flat-shard";
  label.source = "verl #5070, fairscale #697";
  label.stage = "zero3";
  label.happened =
      "A unit's shard is handed to AdamW as one parameter, with the weight decay of the first "
      "tensor in it: norms and biases decay, or matrices do not.";
  label.seen =
      "Training looks healthy, and which tensors decay depends on the number of ranks; only beside "
      "a clean run does the loss move, by less than 0.0001 in 40 steps.";
  label.visible_in_loss = true;
  label.must_fire = {{"REF", true, 1, "parameters", ""}};
  return label;
}

class OneDecayPerFlatShard final : public LabelledFault {
 public:
  OneDecayPerFlatShard() : LabelledFault(zerolab::label()) {}
  std::unique_ptr<Kernels> kernels(std::unique_ptr<Kernels> clean, int) const override {
    return std::make_unique<OneGroupKernels>(std::move(clean));
  }
};

}  // namespace

std::unique_ptr<Fault> make_one_decay_per_flat_shard() {
  return std::make_unique<OneDecayPerFlatShard>();
}

}  // namespace zerolab
