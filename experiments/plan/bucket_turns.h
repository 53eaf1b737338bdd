/// \file
/// Which buckets are sent when: counted by unit, never listed.
#pragma once

#include <vector>

#include "experiments/predict/setting.h"

namespace zerolab {

/// Equal buckets that are sent together, and perhaps the shorter last one.
struct BucketGroup {
  std::int64_t full = 0;  ///< so many of full length
  std::int64_t last = 0;  ///< elements of the shorter one; 0: it is not among them
  std::int64_t count() const { return full + (last > 0 ? 1 : 0); }
};

struct BucketTurns {
  std::int64_t length = 0;            ///< elements of a full bucket
  std::vector<BucketGroup> complete;  ///< by unit: those that its gradient completes
  /// By unit: those that its parameters need and no unit behind it in flat order has brought, when
  /// buckets are gathered from the end of the flat space.
  std::vector<BucketGroup> brought;
};

BucketTurns bucket_turns(const Setting& setting);

/// For each backward use, the units whose turn it completes: in flat order, once complete.
std::vector<std::vector<UnitId>> turns_by_use(const Setting& setting);

}  // namespace zerolab
