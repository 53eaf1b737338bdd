/// \file
/// ORD: proves that every two conflicting accesses are ordered by streams and events.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "stages/device/access_history.h"
#include "stages/device/observer.h"
#include "stages/device/vector_clock.h"

namespace zerolab {

/// One side of a violation.
struct OrderedAccess {
  std::string operation, detail, stream;
  std::string buffer;  ///< the name of the memory at that time; empty for memory not of the device
  bool writes = false;
};

/// Two accesses to the same bytes, at least one a write, that nothing orders.
struct OrderViolation {
  enum class Kind : std::uint8_t {
    kUnordered,
    kUseAfterFree,  ///< `second` was launched after the buffer was freed; `first` is the free
  };
  Kind kind = Kind::kUnordered;
  OrderedAccess first, second;  ///< in the order of the host's calls
  DType dtype{};
  Range elements;  ///< of the second access's buffer, counted in `dtype`
  /// Why the second's stream has waited for the first's so far: the missing wait is another one,
  /// or one of these at another place.
  std::vector<std::string> wait_reasons;

  /// One sentence.
  std::string describe() const;
};

/// Checks with vector clocks, on the host, while work is being queued, so the result does not
/// depend on timing; it sees accesses of one device as operations declare them. Two accesses are
/// ordered by stream order, by waits of streams for events, and by waits of the host. Handing out
/// memory counts as a write by its first user.
class OrderChecker final : public DeviceObserver {
 public:
  /// The first hundred.
  const std::vector<OrderViolation>& violations() const { return violations_; }
  std::int64_t violation_count() const { return count_; }
  /// \throws Failure with the first violation, if there is one.
  void throw_if_any() const;

  void host_launched(const Stream& stream, const Operation& operation) override;
  void host_recorded(const Stream& stream, const Event& event) override;
  void host_stream_waits(const Stream& stream, const Event& event, const char* reason) override;
  void host_waited(const Event& event) override;
  void host_allocated(const Allocation& allocation, const Stream& first_user) override;
  void host_freed(const Allocation& allocation) override;

 private:
  struct Recorded {
    std::size_t slot = 0;
    VectorClock clock;
    std::weak_ptr<Event::State> state;  // gone: nobody can wait for the event any more
  };
  struct Memory {
    Allocation allocation;
    bool freed = false;
  };

  VectorClock& clock_of(const Stream& stream);
  /// One stream's access to one view, at the stream's present moment.
  void check(const Stream& stream, const char* operation, const std::string& detail,
             const View& view, bool writes);
  void report(OrderViolation violation, const View& view, Bytes where);
  const Memory* memory_at(const std::byte* address) const;
  void forget_events();

  std::vector<VectorClock> streams_;
  VectorClock host_;
  std::unordered_map<std::uint64_t, Recorded> events_;
  std::size_t forget_at_ = 1024;
  // By (waiting, recorded) slot.
  std::map<std::pair<std::size_t, std::size_t>, std::set<std::string>> reasons_;
  std::map<const std::byte*, Memory> memory_;  // in use or freed, by begin
  AccessHistory history_;
  std::vector<OrderViolation> violations_;
  std::int64_t count_ = 0;
};

}  // namespace zerolab
