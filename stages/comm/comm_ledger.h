/// \file
/// Bytes sent and received on one rank, booked by the transport at each message or peer read.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stages/core/dtype.h"

namespace zerolab {

/// Who causes a message: training itself, its scalars (loss, token counts, norms), or detectors.
enum class Traffic : std::uint8_t { kTraining, kControl, kChecks };
inline constexpr int kTrafficCount = 3;
std::string_view name_of(Traffic traffic);

enum class CollectiveOp : std::uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kAllToAll,
  kSend,
  kRecv,
  kBarrier,
};
inline constexpr int kCollectiveOpCount = 8;
/// "all_reduce", "reduce_scatter", …
std::string_view name_of(CollectiveOp op);

/// Payload bytes of one rank. Intra- and inter-node apart (`--ranks-per-node`).
struct Volume {
  std::int64_t calls = 0;
  std::int64_t sent_intra = 0, sent_inter = 0;
  std::int64_t received_intra = 0, received_inter = 0;

  std::int64_t sent() const { return sent_intra + sent_inter; }
  std::int64_t received() const { return received_intra + received_inter; }
  Volume& operator+=(const Volume& other);
  bool operator==(const Volume&) const = default;
};

/// One collective as it happened.
struct CollectiveRecord {
  std::int64_t sequence = 0;  ///< counts all calls of the communicator
  CollectiveOp op{};
  DType dtype{};
  std::int64_t count = 0;  ///< elements of the full (unsliced) array
  int group_size = 1;
  std::string group;  ///< "world", or the name of a split
  Traffic traffic{};
  std::string phase, what, detail;
  std::vector<std::int64_t> sent_to, received_from;  ///< bytes by peer
  std::int64_t start_ns = 0, end_ns = 0;             ///< steady clock, on the worker
  bool nominal = false;  ///< bytes are the formula's, not counted (reduction native)
};

/// Totals by (traffic, operation), and the records when asked for. Written by the communication
/// stream's worker without a lock (a lock in stream work would hide forgotten waits from
/// ThreadSanitizer); the host synchronises the stream before it reads.
class CommLedger {
 public:
  using Table = std::array<std::array<Volume, kCollectiveOpCount>, kTrafficCount>;

  void book(const CollectiveRecord& record, const Volume& volume);
  /// Bytes without a record of their own: the headers that checked mode compares before `op`.
  void book(Traffic traffic, CollectiveOp op, const Volume& volume);
  /// Totals since construction.
  const Table& totals() const { return totals_; }
  Volume total(Traffic traffic) const;
  void keep_records(bool on) { keeping_ = on; }
  std::vector<CollectiveRecord> take_records();  ///< since the last call

 private:
  Table totals_{};
  bool keeping_ = false;
  std::vector<CollectiveRecord> records_;
};

}  // namespace zerolab
