#include "experiments/checks/check_factory.h"

#include <algorithm>

#include "experiments/checks/fingerprint_recorder.h"
#include "experiments/checks/memory_check.h"
#include "experiments/checks/norm_check.h"
#include "experiments/checks/reduction_check.h"
#include "experiments/checks/replica_check.h"
#include "stages/core/join.h"
#include "stages/core/nearest.h"

namespace zerolab {

const std::vector<std::string>& check_names() {
  static const std::vector<std::string> kNames = {"REF",  "XR",  "NORM", "INV", "PROV",
                                                  "COMM", "MEM", "ORD",  "REP", "IG"};
  return kNames;
}

std::vector<std::unique_ptr<Check>> make_checks(const std::vector<std::string>& names,
                                                const CheckContext& context) {
  std::vector<std::unique_ptr<Check>> checks;
  for (const std::string& name : names) {
    if (std::ranges::find(check_names(), name) == check_names().end()) {
      bad_input("[checks] '{}' is not a check; did you mean '{}'? Known are {}", name,
                nearest(name, check_names()), joined(check_names()));
    }
    if (name == "REF") checks.push_back(std::make_unique<FingerprintRecorder>(context));
    if (name == "XR") checks.push_back(std::make_unique<ReplicaCheck>(context));
    if (name == "NORM") checks.push_back(std::make_unique<NormCheck>(context));
    if (name == "INV") checks.push_back(std::make_unique<ReductionCheck>(context));
    if (name == "MEM") checks.push_back(std::make_unique<ReleaseCheck>(context));
  }
  return checks;
}

}  // namespace zerolab
