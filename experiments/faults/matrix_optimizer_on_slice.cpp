// DeepSpeed #1285, and for Muon #7807 and #8141: a layer-wise optimizer is handed flat shards and
// takes what this rank holds of a tensor for the tensor.
#include "experiments/faults/faults.h"
#include "experiments/faults/labelled_fault.h"

namespace zerolab {
namespace {

FaultLabel label() {
  FaultLabel label;
  label.name = "matrix-optimizer-on-slice";
  label.source = "DeepSpeed #1285 (LAMB), #7807 and #8141 (Muon)";
  label.stage = "zero3";
  label.happened =
      "LAMB's trust ratio is the ratio of the norms of this rank's elements of a tensor, where the "
      "norms of the whole tensor belong.";
  label.seen =
      "Stages 1 and 2 train to the same loss and stage 3 leaves it by about 0.001 from the second "
      "step on; with Adam, which needs nothing but the element itself, all stages agree.";
  label.visible_in_loss = true;
  label.needs = {"--optimizer lamb", "--lr 0.03"};
  label.must_fire = {{"COMM", false, -1, "collective", "control"},
                     {"REF", true, 1, "parameters", ""}};
  return label;
}

class MatrixOptimizerOnSlice final : public LabelledFault {
 public:
  MatrixOptimizerOnSlice() : LabelledFault(zerolab::label()) {}
  StageFactory stage(StageFactory clean) const override {
    return [clean = std::move(clean)](StageParts parts) {
      parts.settings.optimizer.lamb_norms = LambNorms::kShard;
      return clean(std::move(parts));
    };
  }
};

}  // namespace

std::unique_ptr<Fault> make_matrix_optimizer_on_slice() {
  return std::make_unique<MatrixOptimizerOnSlice>();
}

}  // namespace zerolab
