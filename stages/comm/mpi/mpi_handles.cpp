#include "stages/comm/mpi/mpi_handles.h"

#include <array>
#include <cstdio>
#include <exception>

#include "stages/core/error.h"

namespace zerolab {

namespace {

std::string text_of(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  fail("[mpi] {} failed: {}; see the MPI library's documentation of this error", call,
       text_of(code));
}

void report_mpi(int code, const char* call) noexcept {
  if (code == MPI_SUCCESS) return;
  std::fprintf(stderr, "[mpi] %s failed: %s\n", call, text_of(code).c_str());
}

void end_mpi_job(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 3);
  std::terminate();  // MPI_Abort does not return
}

MpiComm MpiComm::duplicate(MPI_Comm comm) {
  MPI_Comm copy = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup");
  MpiComm owner(copy);
  check_mpi(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return owner;
}

}  // namespace zerolab
