/// \file
/// Keeps memory inaccessible except to operations that declare it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "stages/device/cpu/violation_handler.h"
#include "stages/device/observer.h"

namespace zerolab {

/// The guarded device's page keeper. Every page of every allocation is counted: how many running
/// operations declare it as read or written. Nobody: no access; only readers: read-only. An
/// undeclared access ends the process with a sentence that names the operation and the element.
///
/// Exact to the page: two allocations never share one, two slices of one buffer may.
class Guard final : public DeviceObserver {
 public:
  Guard();
  ~Guard() override;

  void host_allocated(const Allocation& allocation, const Stream& first_user) override;
  void host_freed(const Allocation& allocation) override;
  void worker_begins(const Stream& stream, const Operation& operation) override;
  void worker_ended(const Stream& stream, const Operation& operation) override;

  /// Writes the sentence for an access to `address` into `text`; its length, or 0 when the address
  /// is not in a guarded allocation. For the signal handler: allocates nothing.
  std::size_t explain(const std::byte* address, bool is_write, std::span<char> text) const;

 private:
  struct PageUsers {
    int readers = 0, writers = 0;
    int protection() const;
  };
  struct Region {
    std::byte* data = nullptr;  // of the allocation
    std::int64_t bytes = 0;
    std::string name;
    DType dtype{};
    bool freed = false;
    std::vector<PageUsers> pages;
  };
  struct Running {
    pid_t thread = 0;
    const Operation* operation = nullptr;
    const std::string* stream = nullptr;
  };

  void count(const View& view, bool writes, int change);
  const Region* region_at(const std::byte* address) const;

  mutable std::mutex mutex_;                    // only taken where ThreadSanitizer does not look
  std::map<const std::byte*, Region> regions_;  // by first page
  std::map<int, Running> running_;              // by stream id
  ViolationHandler handler_;
};

}  // namespace zerolab
