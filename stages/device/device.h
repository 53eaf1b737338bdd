/// \file
/// Memory and streams of one rank.
#pragma once

#include <memory>
#include <string>

#include "stages/core/view.h"
#include "stages/device/observer.h"
#include "stages/device/stream.h"
#include "stages/memory/ledger.h"

namespace zerolab {

class Device;

/// Owns a range of device memory; freed on destruction, in host order. Move-only.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Device& device, Allocation allocation, DType dtype, std::int64_t count);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  View view() const { return view_; }
  View slice(std::int64_t begin, std::int64_t size) const { return view_.slice(begin, size); }
  View slice(Range range) const { return view_.slice(range); }
  std::int64_t count() const { return view_.count; }
  bool empty() const { return view_.count == 0; }
  /// Frees now; the buffer is empty afterwards.
  void reset();

 private:
  friend class Device;
  Device* device_ = nullptr;
  Allocation allocation_;
  View view_;
};

/// Memory and streams of one rank. All calls come from the rank's host thread.
class Device {
 public:
  virtual ~Device() = default;
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  virtual std::unique_ptr<Stream> create_stream(std::string name) = 0;

  /// `count` uninitialised elements, 64-byte aligned. A freed block is reused at once; the pool
  /// makes `first_user` wait for the streams whose operations still used it at the free. Every
  /// other stream must be ordered after `first_user` by the caller. A count of 0 gives an empty
  /// buffer.
  Buffer allocate(DType dtype, std::int64_t count, Category category, std::string name,
                  Stream& first_user);

  virtual MemoryLedger& ledger() = 0;
  /// Bytes the pool has taken from the system, whether in use or kept for reuse.
  virtual std::int64_t reserved_bytes() const = 0;

  /// Below `allocate`: hands out `wanted.bytes` > 0 bytes (`wanted.data` is not read), counts them
  /// in the ledger and tells the observers. Public so that a device can wrap another one.
  virtual Allocation take(Allocation wanted, Stream& first_user) = 0;
  /// Takes back what `take` handed out.
  virtual void give_back(const Allocation& allocation) noexcept = 0;
};

}  // namespace zerolab
