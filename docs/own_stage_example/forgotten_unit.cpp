// A mistake that the loss does not show: the smallest unit, the final norm, is never reduced.
#include "experiments/own_stage/own_stage.h"
#include "unit_by_unit.h"

class ForgottenUnit final : public UnitByUnit {
 public:
  using UnitByUnit::UnitByUnit;

 protected:
  void reduce_unit(zerolab::UnitId unit) override {
    if (parts_.layout.unit(unit).name != "ln_f") UnitByUnit::reduce_unit(unit);
  }
};

int main(int argc, char** argv) {
  return zerolab::check_own_stage(
      {"forgotten-unit",
       [](zerolab::StageParts parts) { return std::make_unique<ForgottenUnit>(std::move(parts)); }},
      argc, argv);
}
