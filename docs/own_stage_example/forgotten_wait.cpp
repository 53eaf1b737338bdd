// A mistake that mostly goes well: the reduction does not wait for backward.
#include "experiments/own_stage/own_stage.h"
#include "unit_by_unit.h"

class ForgottenWait final : public UnitByUnit {
 public:
  using UnitByUnit::UnitByUnit;

 protected:
  void reduce_unit(zerolab::UnitId unit) override {
    const zerolab::Range place = units_.piece(unit);
    const zerolab::View gradient = gradients_.slice(place);
    // Missing: parts_.comm.wait(parts_.compute.record(), "gradient of the unit complete");
    parts_.comm.all_reduce(gradient, {"all-reduce gradients", zerolab::Traffic::kTraining,
                                      parts_.layout.unit(unit).name});
    accumulator_.add(parts_.comm.stream(), micro_batch_.index, gradient, place);
    reduced_ = parts_.comm.record();
  }
};

int main(int argc, char** argv) {
  return zerolab::check_own_stage(
      {"forgotten-wait",
       [](zerolab::StageParts parts) { return std::make_unique<ForgottenWait>(std::move(parts)); }},
      argc, argv);
}
