/// \file
/// Where a command prints.
#pragma once

#include <memory>
#include <ostream>

#include "stages/comm/world.h"

namespace zerolab {

/// Results go to `out`, progress and errors to `err`.
struct Console {
  std::ostream& out;
  std::ostream& err;
  bool terminal = false;  ///< `err` is a terminal: lines may be redrawn
  bool colour = false;    ///< `out` is a terminal that wants colours
  /// Kept until an error has been printed: MPI is finalised with the world, together with the other
  /// processes, and mpirun ends a process that still has something to say when another one leaves.
  std::shared_ptr<World> world = nullptr;
};

}  // namespace zerolab
