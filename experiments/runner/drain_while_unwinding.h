/// \file
/// Keeps what queued work writes to alive while an exception unwinds.
#pragma once

#include <exception>

#include "stages/comm/communicator.h"
#include "stages/device/stream.h"

namespace zerolab {

/// Declare it after everything that stream work writes to on the host: when an exception leaves the
/// scope, both streams end first. Calls in flight stop waiting for ranks that wait for this one.
class DrainWhileUnwinding {
 public:
  DrainWhileUnwinding(Communicator& comm, Stream& compute)
      : comm_(comm), compute_(compute), exceptions_at_start_(std::uncaught_exceptions()) {}
  DrainWhileUnwinding(const DrainWhileUnwinding&) = delete;
  DrainWhileUnwinding& operator=(const DrainWhileUnwinding&) = delete;

  ~DrainWhileUnwinding() {
    if (std::uncaught_exceptions() == exceptions_at_start_) return;
    comm_.give_up();
    for (Stream* stream : {&comm_.stream(), &compute_}) {
      try {
        stream->synchronize();
      } catch (...) {  // the first exception is already on its way
      }
    }
  }

 private:
  Communicator& comm_;
  Stream& compute_;
  int exceptions_at_start_;
};

}  // namespace zerolab
