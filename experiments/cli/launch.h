/// \file
/// Whether this process is one of several that a launcher started.
#pragma once

#include <functional>
#include <memory>

#include "experiments/config/run_config.h"
#include "stages/comm/world.h"

namespace zerolab {

/// What mpirun or srun says about this process, in its environment. Known before MPI is
/// initialised, so that of several processes only one speaks.
struct Launch {
  int rank = 0;
  int size = 1;
};
Launch launch_of_this_process();

/// The world that the configuration asks for. `config.ranks` becomes its size.
/// \throws BadInput when --comm and --ranks do not fit how the processes were started.
std::unique_ptr<World> make_world(RunConfig& config, bool ranks_given, const Launch& launch);

/// Runs `work` in every process of the world. When it throws in one, all throw the same, so that no
/// process goes on and waits for one that has given up. \throws BadInput, Failure.
void run_agreed(World& world, const std::function<void()>& work);

}  // namespace zerolab
