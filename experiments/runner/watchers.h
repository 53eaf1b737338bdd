/// \file
/// Who watches a rank's device during a run: the order checker, jitter, the timeline.
#pragma once

#include <optional>
#include <vector>

#include "experiments/config/run_config.h"
#include "experiments/runner/results.h"
#include "stages/device/jitter.h"
#include "stages/device/order_checker.h"
#include "stages/device/timeline.h"

namespace zerolab {

/// The device observers that a run asks for. Must outlive the device.
class Watchers {
 public:
  Watchers(const RunConfig& config, int rank);

  std::vector<DeviceObserver*> observers();
  /// Adds ORD's findings and the trace's spans. All streams must be idle.
  void contribute(RankResult& result) const;

 private:
  std::optional<OrderChecker> order_;
  std::optional<Jitter> jitter_;
  std::optional<Timeline> timeline_;
};

}  // namespace zerolab
