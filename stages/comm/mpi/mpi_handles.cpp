#include "stages/comm/mpi/mpi_handles.h"

#include <array>
#include <string_view>

#include "stages/core/error.h"

namespace zerolab {

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  fail("[mpi] {} failed: {}; see the MPI library's documentation of this error", call,
       std::string_view(text.data(), static_cast<std::size_t>(length)));
}

MpiComm MpiComm::duplicate(MPI_Comm comm) {
  MPI_Comm copy = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup");
  MpiComm owner(copy);
  check_mpi(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return owner;
}

}  // namespace zerolab
