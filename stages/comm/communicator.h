/// \file
/// Collectives between the ranks of a group, each launched on the communicator's stream.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "stages/comm/comm_ledger.h"
#include "stages/core/view.h"
#include "stages/device/stream.h"

namespace zerolab {

/// The order in which a reduction adds the ranks' contributions (docs/determinism.md).
enum class Reduction : std::uint8_t {
  kOrdered,  ///< rank order, in fp32, rounded once: no dependence on bucket or shard boundaries
  kTree,     ///< a fixed binary tree over the ranks; world size must be a power of two
  kRing,     ///< the textbook ring: slice i starts at rank i+1; depends on the cut for N >= 3
  kNative,   ///< whatever MPI or NCCL does
};

std::string_view name_of(Reduction reduction);

/// Why a call is made; shown in records, traces, error messages and the watchdog.
struct CallTag {
  const char* what = "";  ///< static string: "reduce-scatter gradients"
  Traffic traffic = Traffic::kTraining;
  std::string detail;  ///< "bucket 3", "h.2"
};

/// Collectives between the ranks of a group. Every call is launched on `stream()` and returns at
/// once; all ranks must make the same calls in the same order. Sums: fp32, bf16, fp16, fp64, int32,
/// int64, uint64; int8 and byte are only moved. Any count works, zero included.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int world_size() const = 0;
  virtual Stream& stream() = 0;
  virtual CommLedger& ledger() = 0;

  /// in_out = sum over ranks
  virtual void all_reduce(View in_out, const CallTag&) = 0;
  /// output = this rank's of N equal slices of the sum. input.count = N · output.count. The output
  /// may be this rank's slice of the input. The rest of the input is unspecified afterwards.
  virtual void reduce_scatter(View input, View output, const CallTag&) = 0;
  /// output = the ranks' inputs, in rank order. The input may be this rank's slice of the output.
  virtual void all_gather(View input, View output, const CallTag&) = 0;
  virtual void broadcast(View in_out, int root, const CallTag&) = 0;
  /// Slice j of the input goes to rank j; slice i of the output comes from rank i. Not in place.
  virtual void all_to_all(View input, View output, const CallTag&) = 0;
  virtual void send(View view, int peer, const CallTag&) = 0;
  virtual void recv(View view, int peer, const CallTag&) = 0;
  virtual void barrier(const CallTag&) = 0;
  /// Ranks with the same color form a group, ordered by (key, rank). Blocks the host.
  virtual std::unique_ptr<Communicator> split(int color, int key) = 0;

  /// What the rank does now ("step 3 backward"); stamped on later records.
  virtual void set_phase(std::string phase) = 0;
  /// This rank cannot go on: its calls in flight stop waiting for the other ranks.
  virtual void give_up() noexcept = 0;

  void wait(const Event& event, const char* reason) { stream().wait(event, reason); }
  Event record() { return stream().record(); }
};

}  // namespace zerolab
