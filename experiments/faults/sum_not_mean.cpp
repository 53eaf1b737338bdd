// The oldest mistake of data parallelism: gradients are summed over the ranks and never divided.
#include "experiments/faults/faults.h"
#include "experiments/faults/labelled_fault.h"
#include "experiments/faults/owning_stage.h"

namespace zerolab {
namespace {

class SummingStage final : public OwningStage {
 public:
  SummingStage(std::unique_ptr<Stage> inner, int ranks)
      : OwningStage(std::move(inner)), ranks_(ranks) {}

  void step(const StepSettings& settings) override {
    StepSettings summed = settings;
    summed.gradient_scale *= ranks_;  // 1/K where 1/(N·K) belongs
    inner_.step(summed);
  }

 private:
  int ranks_;
};

FaultLabel label() {
  FaultLabel label;
  label.name = "sum-not-mean";
  label.source = "fairseq #494, apex #696, and many others";
  label.stage = "zero2";
  label.happened =
      "The gradient is the sum over the ranks where their mean is wanted, so it is N times too "
      "large.";
  label.seen =
      "With SGD the learning rate seems N times too large; with Adam, which divides the scale out "
      "again, or where clipping always acts, the loss curve hides it.";
  label.needs = {"--clip 0"};  // clipping that acts now and then would show it in the loss
  label.must_fire = {{"NORM", false, 1, "norm", "times as much"}, {"REF", true, 1, "", ""}};
  return label;
}

class SumNotMean final : public LabelledFault {
 public:
  SumNotMean() : LabelledFault(zerolab::label()) {}
  StageFactory stage(StageFactory clean) const override {
    return [clean = std::move(clean)](StageParts parts) -> std::unique_ptr<Stage> {
      const int ranks = parts.comm.world_size();
      return std::make_unique<SummingStage>(clean(std::move(parts)), ranks);
    };
  }
};

}  // namespace

std::unique_ptr<Fault> make_sum_not_mean() { return std::make_unique<SumNotMean>(); }

}  // namespace zerolab
