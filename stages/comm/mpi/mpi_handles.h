/// \file
/// MPI's return codes as exceptions and its handles as owners.
#pragma once

#include <mpi.h>

#include <string>
#include <utility>

namespace zerolab {

/// \throws Failure with MPI's own text unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call);

/// The same where nothing may be thrown, in destructors and while unwinding: one line to stderr.
void report_mpi(int code, const char* call) noexcept;

/// Ends all processes of the job with exit code 3, after one line to stderr.
[[noreturn]] void end_mpi_job(const std::string& message);

/// Owns a communicator. Freed on destruction, unless it was abandoned because of messages that
/// will never be received.
class MpiComm {
 public:
  MpiComm() = default;
  explicit MpiComm(MPI_Comm comm) : comm_(comm) {}
  MpiComm(MpiComm&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
  MpiComm& operator=(MpiComm&& other) noexcept {
    std::swap(comm_, other.comm_);
    return *this;
  }
  ~MpiComm() {
    if (comm_ != MPI_COMM_NULL) report_mpi(MPI_Comm_free(&comm_), "MPI_Comm_free");
  }

  /// A copy that returns errors instead of ending the process. Blocks until all ranks have come.
  static MpiComm duplicate(MPI_Comm comm);

  MPI_Comm get() const { return comm_; }
  void abandon() { comm_ = MPI_COMM_NULL; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace zerolab
