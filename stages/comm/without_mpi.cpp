// What a build without MPI offers instead; comm.cmake leaves this file out where there is MPI.
#include "stages/comm/world.h"
#include "stages/core/error.h"

namespace zerolab {

bool built_with_mpi() { return false; }

std::unique_ptr<World> make_mpi_world(double /*timeout_seconds*/) {
  bad_input(
      "[comm] this build has no MPI; install Open MPI (libopenmpi-dev, openmpi-bin) and configure "
      "again, or use --comm thread");
}

}  // namespace zerolab
