#include "experiments/cli/launch.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "experiments/config/validate.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

std::optional<int> number_in_environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc() || stop != end || value < 0) return std::nullopt;
  return value;
}

}  // namespace

Launch launch_of_this_process() {
  // Open MPI's mpirun, MPICH's and Intel's, srun. (SLURM_NTASKS is set in plain batch scripts too.)
  constexpr const char* kNames[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                       {"PMI_RANK", "PMI_SIZE"},
                                       {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
  for (const auto& [rank_name, size_name] : kNames) {
    const auto rank = number_in_environment(rank_name);
    const auto size = number_in_environment(size_name);
    if (rank && size && *rank < *size) return {*rank, *size};
  }
  return {};
}

std::unique_ptr<World> make_world(RunConfig& config, bool ranks_given, const Launch& launch) {
  validate_launch(config);
  // The processes also wait for the one that writes the report, however short --timeout is.
  const double patience = std::max(config.timeout_seconds, 300.0);
  if (config.comm != "mpi") {
    if (launch.size > 1) {
      bad_input(
          "[options] {} processes were started, but --comm {} keeps all ranks in one; add "
          "--comm mpi, or start zerolab without mpirun",
          launch.size, config.comm);
    }
    return make_thread_world(config.ranks, patience);
  }
  auto world = make_mpi_world(patience);
  if (ranks_given && config.ranks != world->world_size()) {
    bad_input(
        "[options] --ranks {} was given, but the number of processes is {}; leave --ranks "
        "out, or start with mpirun -n {}",
        config.ranks, world->world_size(), config.ranks);
  }
  config.ranks = world->world_size();
  return world;
}

void run_agreed(World& world, const std::function<void()>& work) {
  std::string mine;
  try {
    work();
  } catch (const Error& error) {
    mine = std::to_string(error.exit_code()) + error.what();
  } catch (const std::exception& error) {
    mine = std::string("3") + error.what();
  }
  std::string first;
  world.run([&](RankContext& ranks) {
    const std::vector<std::string> all = ranks.gather_texts(mine);
    if (ranks.rank() != world.local_rank()) return;
    for (const std::string& text : all) {
      if (first.empty()) first = text;
    }
  });
  if (first.empty()) return;
  if (first.front() == '2') throw BadInput(first.substr(1));
  throw Failure(first.substr(1));
}

}  // namespace zerolab
