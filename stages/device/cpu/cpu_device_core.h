/// \file
/// What a CPU device, its streams and its events share.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "stages/device/cpu/block_pool.h"
#include "stages/device/cpu/event_words.h"
#include "stages/device/cpu/first_failure.h"
#include "stages/device/observer.h"

namespace zerolab {

class CpuStream;

/// Shared between the device, its streams and its events, whichever lives longest. All of it
/// belongs to the host thread, but `failure`, `observers` (constant while a stream lives) and the
/// event words, which workers touch through plain pointers: a reference count that workers change
/// would order them.
struct CpuDeviceCore {
  std::unique_ptr<BlockPool> pool;  // null once the device is gone: free blocks hold events
  std::vector<DeviceObserver*> observers;
  FirstFailure failure;
  std::uint64_t next_event_id = 1;
  std::vector<CpuStream*> streams;                 // alive
  std::vector<std::unique_ptr<EventWords>> words;  // of all streams that ever were

  template <class Call>
  void tell(Call call) {
    for (DeviceObserver* observer : observers) call(*observer);
  }
};

}  // namespace zerolab
