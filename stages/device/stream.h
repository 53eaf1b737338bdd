/// \file
/// In-order queues of work, the events that order them, and what every operation declares.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "stages/core/view.h"

namespace zerolab {

/// A point in a stream. Cheap to copy. A default-constructed event has already happened.
class Event {
 public:
  /// Back ends derive their own state.
  struct State {
    explicit State(std::uint64_t event_id) : id(event_id) {}
    virtual ~State() = default;
    virtual void host_wait() = 0;
    virtual bool happened() const = 0;
    std::uint64_t id;  ///< unique within the device
  };

  Event() = default;
  explicit Event(std::shared_ptr<State> state) : state_(std::move(state)) {}
  bool valid() const { return state_ != nullptr; }
  std::uint64_t id() const { return state_ ? state_->id : 0; }
  /// Blocks the calling host thread. \throws what stream work threw, as Stream's calls do.
  void host_wait() const {
    if (state_) state_->host_wait();
  }
  /// A poll for progress bars: it orders nothing, `host_wait` does.
  bool happened() const { return !state_ || state_->happened(); }
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

/// What one launch does to memory. Every view it touches must be listed: the guarded device opens
/// just these, and the order checker (ORD) compares just these.
struct Operation {
  const char* name = "";  ///< static string: "adamw", "reduce_scatter"
  std::string detail;     ///< free text for traces and reports: the unit, the reason
  std::vector<View> reads;
  std::vector<View> writes;  ///< a view that is read and written belongs here only
  std::function<void()> work;
};

/// The id of the stream that a device keeps for itself (poisoning of freed memory).
inline constexpr int kOwnStreamId = -1;
/// Streams that one device can create in its life.
inline constexpr int kMaxStreams = 63;

/// An in-order queue of work on one device. All calls come from the rank's one host thread, return
/// at once, and are executed later in order.
///
/// An exception in stream work is kept, later work of that stream is skipped (its events still
/// happen, so that nobody hangs), and the first exception is rethrown by the host's next and every
/// later call on any stream of the device: what other streams computed from it is garbage too.
class Stream {
 public:
  virtual ~Stream() = default;
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Queues the operation. \throws what earlier stream work threw, as all calls below do.
  virtual void launch(Operation operation) = 0;
  /// An event that happens when everything launched so far has ended.
  virtual Event record() = 0;
  /// Later work of this stream starts only after the event. The reason ("bucket free") is shown by
  /// traces, the watchdog, ORD and faults; a static string. No effect when the event is this
  /// stream's own past.
  virtual void wait(const Event& event, const char* reason) = 0;
  /// Blocks the host until everything launched so far has ended. \throws what the work threw.
  virtual void synchronize() = 0;

  /// 0, 1, … within the device, in order of creation; kOwnStreamId for the device's own.
  virtual int id() const = 0;
  virtual const std::string& name() const = 0;  ///< "compute", "communication"
};

}  // namespace zerolab
