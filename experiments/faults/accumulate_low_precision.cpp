// DeepSpeed #2352 and #2768: micro-batches were added up in the 16 bits of the gradients.
#include "experiments/faults/faults.h"
#include "experiments/faults/labelled_fault.h"

namespace zerolab {
namespace {

FaultLabel label() {
  FaultLabel label;
  label.name = "accumulate-low-precision";
  label.source = "DeepSpeed #2352, #2768";
  label.stage = "zero2";
  label.happened =
      "Reduced gradients of the micro-batches are added up in bf16, which forgets what is less "
      "than 1/256 of the sum.";
  label.seen =
      "Training with many micro-batches converges worse than with a large batch, and more so the "
      "more there are.";
  label.needs = {"--precision bf16", "--accumulate 4"};
  label.must_fire = {{"INV", false, 1, "gradients", "what the ranks handed over adds up to"},
                     {"MEM", false, -1, "memory", "accumulators"},
                     {"REF", true, 1, "gradients", ""}};
  return label;
}

class AccumulateLowPrecision final : public LabelledFault {
 public:
  AccumulateLowPrecision() : LabelledFault(zerolab::label()) {}
  StageFactory stage(StageFactory clean) const override {
    return [clean = std::move(clean)](StageParts parts) -> std::unique_ptr<Stage> {
      parts.settings.precision.accumulate = parts.settings.precision.compute;
      return clean(std::move(parts));
    };
  }
};

}  // namespace

std::unique_ptr<Fault> make_accumulate_low_precision() {
  return std::make_unique<AccumulateLowPrecision>();
}

}  // namespace zerolab
