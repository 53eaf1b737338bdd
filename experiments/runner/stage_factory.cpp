#include "experiments/runner/stage_factory.h"

#include "baseline_ddp/ddp.h"
#include "stages/core/nearest.h"
#include "zero1/zero1.h"
#include "zero2/zero2.h"
#include "zero3/zero3.h"

namespace zerolab {

const std::vector<std::string>& stage_names() {
  static const std::vector<std::string> names = {"ddp", "zero1", "zero2", "zero3"};
  return names;
}

bool supports_local_accumulation(const std::string& stage) {
  return stage == "ddp" || stage == "zero1";
}

bool uses_buckets(const std::string& stage) { return stage != "zero3"; }

StageFactory stage_factory(const std::string& stage) {
  if (stage == "ddp") return [](StageParts p) { return std::make_unique<Ddp>(std::move(p)); };
  if (stage == "zero1") return [](StageParts p) { return std::make_unique<Zero1>(std::move(p)); };
  if (stage == "zero2") return [](StageParts p) { return std::make_unique<Zero2>(std::move(p)); };
  if (stage == "zero3") return [](StageParts p) { return std::make_unique<Zero3>(std::move(p)); };
  bad_input("[stages] '{}' is not a stage; did you mean '{}'? Known are ddp, zero1, zero2, zero3",
            stage, nearest(stage, stage_names()));
}

}  // namespace zerolab
