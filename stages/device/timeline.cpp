#include "stages/device/timeline.h"

#include <chrono>

namespace zerolab {
namespace {

std::int64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace

std::vector<const TimelineRow*> Timeline::rows() const {
  std::vector<const TimelineRow*> all;
  for (const auto& row : rows_) {
    if (row) all.push_back(row.get());
  }
  return all;
}

void Timeline::clear() {
  for (const auto& row : rows_) {
    if (row) row->spans.clear();
  }
}

void Timeline::open_row(const Stream& stream) {
  auto& row = rows_[static_cast<std::size_t>(stream.id() + 1)];
  if (row) return;
  row = std::make_unique<TimelineRow>();
  row->stream_id = stream.id();
  row->stream = stream.name();
}

void Timeline::host_launched(const Stream& stream, const Operation&) { open_row(stream); }

void Timeline::host_stream_waits(const Stream& stream, const Event&, const char*) {
  open_row(stream);
}

void Timeline::worker_begins(const Stream& stream, const Operation& operation) {
  row_of(stream).spans.push_back({false, operation.name, operation.detail, now_ns(), 0});
}

void Timeline::worker_ended(const Stream& stream, const Operation&) {
  row_of(stream).spans.back().end_ns = now_ns();
}

void Timeline::worker_waits(const Stream& stream, const char* reason) {
  row_of(stream).spans.push_back({true, reason, "", now_ns(), 0});
}

void Timeline::worker_waited(const Stream& stream, const char*) {
  row_of(stream).spans.back().end_ns = now_ns();
}

}  // namespace zerolab
