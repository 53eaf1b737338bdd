// DeepSpeed's stages 2 and 3 before #551 and #1021: a squared norm that had been summed over the
// ranks was summed over them again.
#include "experiments/faults/faults.h"
#include "experiments/faults/labelled_fault.h"

namespace zerolab {
namespace {

class TwiceReducingClipper final : public Clipper {
 public:
  TwiceReducingClipper(Device& device, Stream& compute, Communicator& comm, Kernels& kernels,
                       double max_norm, std::int64_t global_count)
      : Clipper(device, compute, comm, kernels, max_norm, global_count), device_(device) {}

 protected:
  void finish(View maxima, View sums, int parts, double scale) override {
    if (parts > 1 && again_.empty()) {
      again_ = device_.allocate(DType::kFloat64, sums.count * parts, Category::kWorkspace,
                                "sums of squares, gathered twice", compute_);
    }
    if (parts == 1) return Clipper::finish(maxima, sums, parts, scale);
    // Every rank gives the sums of all ranks as if they were its own.
    Clipper::finish(maxima, gather(sums, again_.view(), "sum of squares again"), parts * parts,
                    scale);
  }

 private:
  Device& device_;
  Buffer again_;
};

FaultLabel label() {
  FaultLabel label;
  label.name = "norm-double-reduce";
  label.source = "DeepSpeed #966 (stage 3, repaired in #1021; stage 2 in #551)";
  label.stage = "zero3";
  label.happened =
      "The squared norm is summed over the data-parallel ranks and then again over all ranks, so "
      "the "
      "norm is √N too large.";
  label.seen =
      "Gradients are clipped too hard, visible only on steps where clipping acts: stage 3 leaves "
      "the "
      "other stages' losses by about 0.2 %.";
  label.needs = {"--clip 0.5"};
  label.must_fire = {{"NORM", false, 1, "norm", "times as much"},
                     {"COMM", false, -1, "collective", "control"},
                     {"REF", true, 1, "", ""}};
  return label;
}

class NormDoubleReduce final : public LabelledFault {
 public:
  NormDoubleReduce() : LabelledFault(zerolab::label()) {}
  std::unique_ptr<Clipper> clipper(std::unique_ptr<Clipper>, Device& device, Stream& compute,
                                   Communicator& comm, Kernels& kernels, double max_norm,
                                   std::int64_t global_count) const override {
    return std::make_unique<TwiceReducingClipper>(device, compute, comm, kernels, max_norm,
                                                  global_count);
  }
};

}  // namespace

std::unique_ptr<Fault> make_norm_double_reduce() { return std::make_unique<NormDoubleReduce>(); }

}  // namespace zerolab
