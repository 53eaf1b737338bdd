/// \file
/// The Communicator of every back end: launches the collectives of algorithms.h on a stream.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "stages/comm/algorithms.h"
#include "stages/comm/communicator.h"
#include "stages/comm/transport.h"
#include "stages/comm/world.h"
#include "stages/device/device.h"

namespace zerolab {

/// Launches one Operation a call, which declares the views it reads and writes, and books what the
/// transport moved. Must be destroyed before its stream and device.
class StreamCommunicator final : public Communicator {
 public:
  /// \throws BadInput for reduction native where the transport has none, and for tree where the
  /// number of ranks is no power of two.
  StreamCommunicator(std::unique_ptr<Transport> transport, Device& device, Stream& stream,
                     const CommSettings& settings, std::string group);
  ~StreamCommunicator() override;

  int rank() const override { return transport_->rank(); }
  int world_size() const override { return transport_->world_size(); }
  Stream& stream() override { return stream_; }
  CommLedger& ledger() override { return ledger_; }

  void all_reduce(View in_out, const CallTag& tag) override;
  void reduce_scatter(View input, View output, const CallTag& tag) override;
  void all_gather(View input, View output, const CallTag& tag) override;
  void broadcast(View in_out, int root, const CallTag& tag) override;
  void all_to_all(View input, View output, const CallTag& tag) override;
  void send(View view, int peer, const CallTag& tag) override;
  void recv(View view, int peer, const CallTag& tag) override;
  void barrier(const CallTag& tag) override;
  std::unique_ptr<Communicator> split(int color, int key) override;
  void set_phase(std::string phase) override;
  void give_up() noexcept override { transport_->give_up(); }

 private:
  /// A call between its launch and its end.
  struct Call {
    CallHeader header;
    CallTag tag;
    std::int64_t sequence = 0;
    std::string
        phase;    ///< by value: a shared count would order worker and host for ThreadSanitizer
    View shared;  ///< readable by the peers
    std::function<void()> before;      ///< runs before the peers may look
    std::function<void(Wire&)> moves;  ///< the algorithm
    bool nominal = false;              ///< its bytes are not counted but computed
  };

  Call make_call(CollectiveOp op, DType dtype, std::int64_t count, int root, const CallTag& tag);
  void launch(Call call, std::vector<View> reads, std::vector<View> writes);
  void run(const Call& call);
  void move_or_abort(const Call& call, Wire& wire);
  void book(const Call& call, const PeerBytes& headers, const PeerBytes& payload,
            std::int64_t start_ns);
  Volume volume_of(const PeerBytes& bytes) const;
  View own_piece(View array) const;

  std::unique_ptr<Transport> transport_;
  Device& device_;
  Stream& stream_;
  CommSettings settings_;
  std::string group_;
  Buffer staging_;
  CommLedger ledger_;
  std::string phase_;
  std::int64_t calls_ = 0;
  std::int64_t collectives_ = 0;
  int exceptions_at_start_;
};

}  // namespace zerolab
