/// \file
/// Keeps host memory alive until a stream has written to it.
#pragma once

#include "stages/device/stream.h"

namespace zerolab {

/// Waits for everything queued on a stream when it goes out of scope. Declare it behind the host
/// memory that downloads go to: when an exception ends a run, work that is still queued must not
/// write to memory that is gone.
class PendingDownloads {
 public:
  explicit PendingDownloads(Stream& stream) : stream_(stream) {}
  PendingDownloads(const PendingDownloads&) = delete;
  PendingDownloads& operator=(const PendingDownloads&) = delete;
  ~PendingDownloads() {
    try {
      stream_.synchronize();
    } catch (...) {  // what the work threw is told by the host's other calls
    }
  }

 private:
  Stream& stream_;
};

}  // namespace zerolab
