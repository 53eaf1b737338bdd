/// \file
/// When each operation and each wait of each stream began and ended.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stages/device/observer.h"

namespace zerolab {

/// One bar of a trace.
struct TimelineSpan {
  bool is_wait = false;
  std::string name;           ///< the operation's name, or the wait's reason
  std::string detail;         ///< the operation's; empty for waits
  std::int64_t begin_ns = 0;  ///< steady clock
  std::int64_t end_ns = 0;
};

/// One stream's bars, in order and without overlap.
struct TimelineRow {
  int stream_id = 0;
  std::string stream;
  std::vector<TimelineSpan> spans;
};

/// Records on the workers, without locks, each worker in its own row. Read and clear only after the
/// streams have been synchronised.
class Timeline final : public DeviceObserver {
 public:
  /// Streams that were given work, by id; the device's own stream, if any, first. Valid until the
  /// next `clear`.
  std::vector<const TimelineRow*> rows() const;
  /// Drops all spans.
  void clear();

  void host_launched(const Stream& stream, const Operation& operation) override;
  void host_stream_waits(const Stream& stream, const Event& event, const char* reason) override;
  void worker_begins(const Stream& stream, const Operation& operation) override;
  void worker_ended(const Stream& stream, const Operation& operation) override;
  void worker_waits(const Stream& stream, const char* reason) override;
  void worker_waited(const Stream& stream, const char* reason) override;

 private:
  TimelineRow& row_of(const Stream& stream) const {
    return *rows_[static_cast<std::size_t>(stream.id() + 1)];
  }
  void open_row(const Stream& stream);

  // Rows are made by the host before the stream's first work is queued.
  std::array<std::unique_ptr<TimelineRow>, kMaxStreams + 1> rows_;
};

}  // namespace zerolab
