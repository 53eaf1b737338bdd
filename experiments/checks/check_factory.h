/// \file
/// From the names of `--check` to checks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/checks/check.h"

namespace zerolab {

/// REF, XR, NORM, INV, PROV, COMM, MEM, ORD, REP, IG.
const std::vector<std::string>& check_names();

/// The checks among `names` that watch a rank while it trains: REF, XR, NORM, INV and MEM. The
/// others look at something else and make nothing here: PROV at an instance of its own
/// (provenance.h), COMM and the other half of MEM at the result (volume_check.h, memory_check.h),
/// ORD at the device (it is an observer), REP and IG at other runs (variants.h). \throws BadInput
/// for an unknown name, with the nearest.
std::vector<std::unique_ptr<Check>> make_checks(const std::vector<std::string>& names,
                                                const CheckContext& context);

}  // namespace zerolab
