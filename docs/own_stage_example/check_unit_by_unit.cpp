// Runs every detector on the stage: check_unit_by_unit --help shows the options.
#include "experiments/own_stage/own_stage.h"
#include "unit_by_unit.h"

int main(int argc, char** argv) {
  return zerolab::check_own_stage(
      {"ddp-unit-by-unit",
       [](zerolab::StageParts parts) { return std::make_unique<UnitByUnit>(std::move(parts)); }},
      argc, argv);
}
