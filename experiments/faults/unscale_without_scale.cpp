// DeepSpeed #7837: in bf16 gradients were divided by a loss scale that no loss had been multiplied
// with.
#include "experiments/faults/faults.h"
#include "experiments/faults/labelled_fault.h"
#include "experiments/faults/owning_stage.h"

namespace zerolab {
namespace {

constexpr double kNeverApplied = 65536;  // the initial scale of fp16

class UnscalingStage final : public OwningStage {
 public:
  using OwningStage::OwningStage;
  void step(const StepSettings& settings) override {
    StepSettings unscaled = settings;
    unscaled.gradient_scale /= kNeverApplied;
    inner_.step(unscaled);
  }
};

FaultLabel label() {
  FaultLabel label;
  label.name = "unscale-without-scale";
  label.source = "DeepSpeed #7837";
  label.stage = "zero2";
  label.happened =
      "The gradient is divided by a loss scale of 65,536, as in fp16, but in bf16 the loss was "
      "never multiplied with it.";
  label.seen =
      "Norms look tiny and clipping never acts; Adam divides the scale out again, so the loss "
      "looks as if nothing were wrong until epsilon matters.";
  label.needs = {"--precision bf16"};
  label.must_fire = {{"NORM", false, 1, "norm", "times as much"}, {"REF", true, 1, "", ""}};
  return label;
}

class UnscaleWithoutScale final : public LabelledFault {
 public:
  UnscaleWithoutScale() : LabelledFault(zerolab::label()) {}
  StageFactory stage(StageFactory clean) const override {
    return [clean = std::move(clean)](StageParts parts) -> std::unique_ptr<Stage> {
      return std::make_unique<UnscalingStage>(clean(std::move(parts)));
    };
  }
};

}  // namespace

std::unique_ptr<Fault> make_unscale_without_scale() {
  return std::make_unique<UnscaleWithoutScale>();
}

}  // namespace zerolab
