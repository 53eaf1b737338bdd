/// \file
/// Hooks for whoever watches a device: the order checker, the guard, traces, jitter.
#pragma once

#include <cstdint>
#include <string>

#include "stages/device/stream.h"
#include "stages/memory/category.h"

namespace zerolab {

struct Allocation {
  std::byte* data = nullptr;
  std::int64_t bytes = 0;  ///< as requested
  Category category{};
  std::string name;
  DType dtype = DType::kByte;  ///< of the buffer's elements
};

/// Watches one device. The `host_…` calls come on the rank's host thread in program order; the
/// `worker_…` calls come on the stream's worker, several streams at a time: an observer keeps apart
/// what it notes per stream and takes no lock, which would order the streams it watches. It sees
/// the pool's own waits ("memory reuse") too. An observer must outlive the device.
class DeviceObserver {
 public:
  virtual ~DeviceObserver() = default;

  virtual void host_launched(const Stream&, const Operation&) {}
  /// Recording twice without work in between gives the same event, and one call.
  virtual void host_recorded(const Stream&, const Event&) {}
  virtual void host_stream_waits(const Stream&, const Event&, const char* /*reason*/) {}
  virtual void host_waited(const Event&) {}  ///< the host itself has waited
  virtual void host_allocated(const Allocation&, const Stream& /*first_user*/) {}
  virtual void host_freed(const Allocation&) {}

  virtual void worker_begins(const Stream&, const Operation&) {}
  virtual void worker_ended(const Stream&, const Operation&) {}
  virtual void worker_waits(const Stream&, const char* /*reason*/) {}
  virtual void worker_waited(const Stream&, const char* /*reason*/) {}
};

}  // namespace zerolab
