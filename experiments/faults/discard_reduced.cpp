// DeepSpeed's stage 1 between #532 and #971: the reduce-scatter wrote into temporaries that nothing
// read any more.
#include "experiments/faults/faults.h"
#include "experiments/faults/labelled_fault.h"
#include "zero1/zero1.h"

namespace zerolab {
namespace {

class DiscardingZero1 final : public Zero1 {
 public:
  explicit DiscardingZero1(StageParts parts)
      : Zero1(std::move(parts)),
        temporary_(parts_.device.allocate(DType::kFloat32, partition_.largest_piece(),
                                          Category::kGradientBuckets, "reduced and forgotten",
                                          parts_.comm.stream())) {}

 protected:
  void reduce_bucket(int bucket) override {
    const View whole = gradients_.slice(partition_.piece(bucket));
    const View temporary = temporary_.slice(0, whole.count);
    parts_.comm.wait(parts_.compute.record(), "gradients of the bucket complete");
    parts_.kernels.copy(parts_.comm.stream(), whole, temporary);
    const std::int64_t length = whole.count / partition_.world_size();
    parts_.comm.reduce_scatter(
        temporary, temporary.slice(rank() * length, length),
        {"reduce-scatter gradients", Traffic::kTraining, fmt::format("bucket {}", bucket)});
    // The optimizer's slice still holds this rank's own gradient.
    accumulate_shard(bucket, gradients_.slice(partition_.slice(bucket, rank())));
    reduced_ = parts_.comm.record();
  }

 private:
  Buffer temporary_;
};

FaultLabel label() {
  FaultLabel label;
  label.name = "discard-reduced";
  label.source = "DeepSpeed #966 (stage 1, from #532 to #971 and #1042)";
  label.stage = "zero1";
  label.happened =
      "The reduce-scatter leaves the summed gradient in a temporary that nothing reads, so each "
      "rank "
      "updates its slice with its own gradient.";
  label.seen =
      "Stages 0, 1 and 2 train the same model to different losses; the first loss is identical, "
      "the "
      "last one looks fine, and all ranks agree with each other.";
  label.must_fire = {{"INV", false, 1, "gradients", "what the ranks handed over adds up to"},
                     {"PROV", false, -1, "gradients", "missing from"},
                     {"REF", true, 1, "gradients", ""}};
  return label;
}

class DiscardReduced final : public LabelledFault {
 public:
  DiscardReduced() : LabelledFault(zerolab::label()) {}
  StageFactory stage(StageFactory) const override {
    return [](StageParts parts) { return std::make_unique<DiscardingZero1>(std::move(parts)); };
  }
};

}  // namespace

std::unique_ptr<Fault> make_discard_reduced() { return std::make_unique<DiscardReduced>(); }

}  // namespace zerolab
