/// \file
/// Host memory and streams that are FIFO worker threads.
#pragma once

#include <memory>
#include <vector>

#include "stages/device/device.h"

namespace zerolab {

struct CpuDeviceOptions {
  std::vector<DeviceObserver*> observers = {};  ///< must outlive the device
  /// Fill memory with NaN bytes when it is freed and when it is handed out (REP).
  bool poison = false;
  /// Every allocation on pages of its own, inaccessible except to operations that declare it.
  bool guarded = false;
};

std::unique_ptr<Device> make_cpu_device(CpuDeviceOptions options = {});

}  // namespace zerolab
