/// \file
/// Starts the ranks: threads of this process, or the processes that mpirun started.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "stages/comm/communicator.h"
#include "stages/comm/transport.h"
#include "stages/device/device.h"

namespace zerolab {

struct CommSettings {
  Reduction reduction = Reduction::kOrdered;
  int ranks_per_node = 0;  ///< 0: all ranks on one node
  bool checked = true;     ///< compare each call's header across ranks first
  double timeout_seconds =
      300;  ///< watchdog: names the rank and the call everyone waits for; 0: off
  /// Largest count of one message (bytes; elements in native calls); longer ones are split.
  std::int64_t max_message_count = 1 << 28;
};

/// One rank's place in a running world. Lives as long as the rank's function.
class RankContext {
 public:
  virtual ~RankContext() = default;
  virtual int rank() const = 0;
  virtual int world_size() const = 0;
  /// Collective: all ranks create the same communicators in the same order.
  virtual std::unique_ptr<Communicator> create_communicator(Device& device, Stream& stream,
                                                            const CommSettings& settings) = 0;
  /// Host-side, blocking, outside every ledger: all ranks' texts in rank order. For the harness.
  virtual std::vector<std::string> gather_texts(const std::string& mine) = 0;
};

/// Starts the ranks and waits for them.
class World {
 public:
  virtual ~World() = default;
  virtual int world_size() const = 0;
  /// The rank that prints and writes files in this process; 0 with threads, own rank under MPI.
  virtual int local_rank() const = 0;
  /// Runs `body` on every rank. When one rank throws, the others are aborted and the first
  /// exception is rethrown here. Reusable: each call is a fresh set of ranks.
  virtual void run(const std::function<void(RankContext&)>& body) = 0;
};

/// Ranks are threads of this process. 1 <= ranks <= 1024. The watchdog is the one of
/// `gather_texts`; communicators bring their own. 0: off.
std::unique_ptr<World> make_thread_world(int ranks, double timeout_seconds = 300);

/// Ranks are the processes that mpirun or srun started; initialises MPI (MPI_THREAD_MULTIPLE) once
/// and finalises it when destroyed. \throws BadInput when built without MPI.
std::unique_ptr<World> make_mpi_world(double timeout_seconds = 300);
bool built_with_mpi();

}  // namespace zerolab
