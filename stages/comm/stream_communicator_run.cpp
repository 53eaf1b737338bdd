// The life of a call: launch, run on the worker, books.
#include <bit>
#include <chrono>
#include <exception>
#include <utility>

#include "stages/comm/stream_communicator.h"
#include "stages/comm/volume_formula.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

GroupShape shape_of(const Transport& transport, const CommSettings& settings) {
  GroupShape shape{transport.shares_memory() ? WireKind::kPeerView : WireKind::kMessages,
                   settings.reduction,
                   {}};
  for (const int rank : transport.world_ranks()) {
    shape.node.push_back(settings.ranks_per_node > 0 ? rank / settings.ranks_per_node : 0);
  }
  return shape;
}

}  // namespace

StreamCommunicator::StreamCommunicator(std::unique_ptr<Transport> transport, Device& device,
                                       Stream& stream, const CommSettings& settings,
                                       std::string group)
    : transport_(std::move(transport)),
      device_(device),
      stream_(stream),
      settings_(settings),
      group_(std::move(group)),
      exceptions_at_start_(std::uncaught_exceptions()) {
  if (settings.reduction == Reduction::kTree && !std::has_single_bit(unsigned(world_size()))) {
    bad_input(
        "[comm] reduction tree needs a number of ranks that is a power of two, not {}; use "
        "another number of ranks, or reduction ordered",
        world_size());
  }
  if (settings.reduction == Reduction::kNative && !transport_->has_native()) {
    bad_input(
        "[comm] reduction native is the message library's own, and ranks that are threads have "
        "none; use --comm mpi, or reduction ordered, tree or ring");
  }
  staging_ = device.allocate(DType::kByte, staging_bytes(shape_of(*transport_, settings)),
                             Category::kCommunicationStaging, "communication staging", stream);
}

StreamCommunicator::~StreamCommunicator() {
  // While an exception is on its way to the world, calls in flight must not wait for other ranks.
  if (std::uncaught_exceptions() > exceptions_at_start_) transport_->give_up();
  try {
    stream_.synchronize();
  } catch (...) {  // the call that failed has told the world
  }
}

void StreamCommunicator::set_phase(std::string phase) { phase_ = std::move(phase); }

StreamCommunicator::Call StreamCommunicator::make_call(CollectiveOp op, DType dtype,
                                                       std::int64_t count, int root,
                                                       const CallTag& tag) {
  const bool pair = op == CollectiveOp::kSend || op == CollectiveOp::kRecv;
  Call call;
  call.header = make_call_header(pair ? -1 : collectives_++, op, dtype, count, root, tag);
  call.tag = tag;
  call.sequence = calls_++;
  call.phase = phase_;
  return call;
}

void StreamCommunicator::launch(Call call, std::vector<View> reads, std::vector<View> writes) {
  Operation operation;
  operation.name = name_of(call.header.op).data();  // a literal: ends with a zero
  operation.detail = call.tag.what;
  if (!call.tag.detail.empty()) operation.detail += ", " + call.tag.detail;
  operation.reads = std::move(reads);
  operation.writes = std::move(writes);
  if (!staging_.empty()) operation.writes.push_back(staging_.view());
  operation.work = [this, call = std::move(call)] { run(call); };
  stream_.launch(std::move(operation));
}

void StreamCommunicator::run(const Call& call) {
  const std::int64_t start_ns = now_ns();
  try {
    if (call.before) call.before();
    PeerBytes headers = transport_->take_bytes();  // nothing yet: right sizes
    if (world_size() > 1) {
      Wire wire{*transport_, settings_.reduction, bytes_of(staging_.view())};
      if (call.header.op == CollectiveOp::kSend || call.header.op == CollectiveOp::kRecv) {
        transport_->open_pair(call.header);
        headers = transport_->take_bytes();
        call.moves(wire);
      } else {
        const OpenCall open(*transport_, call.header, bytes_of(call.shared));
        headers = transport_->take_bytes();
        move_or_abort(call, wire);
      }
    }
    book(call, headers, transport_->take_bytes(), start_ns);
  } catch (const Aborted&) {
    throw;
  } catch (const std::exception& error) {
    transport_->abort(error);
    throw;
  }
}

void StreamCommunicator::move_or_abort(const Call& call, Wire& wire) {
  try {
    call.moves(wire);
  } catch (const Aborted&) {
    throw;  // the message is there, or follows
  } catch (const std::exception& error) {
    // Said before this rank leaves the call: leaving waits for the others, who wait for its bytes.
    transport_->abort(error);
    throw;
  }
}

Volume StreamCommunicator::volume_of(const PeerBytes& bytes) const {
  const auto node = [this](std::size_t member) {
    const int rank = transport_->world_ranks()[member];
    return settings_.ranks_per_node > 0 ? rank / settings_.ranks_per_node : 0;
  };
  Volume volume;
  volume.calls = 1;
  const int here = node(static_cast<std::size_t>(rank()));
  for (std::size_t peer = 0; peer < bytes.sent_to.size(); ++peer) {
    const bool inside = node(peer) == here;
    (inside ? volume.sent_intra : volume.sent_inter) += bytes.sent_to[peer];
    (inside ? volume.received_intra : volume.received_inter) += bytes.received_from[peer];
  }
  return volume;
}

void StreamCommunicator::book(const Call& call, const PeerBytes& headers, const PeerBytes& payload,
                              std::int64_t start_ns) {
  CollectiveRecord record;
  record.sequence = call.sequence;
  record.op = call.header.op;
  record.dtype = call.header.dtype;
  record.count = call.header.count;
  record.group_size = world_size();
  record.group = group_;
  record.traffic = call.tag.traffic;
  record.phase = call.phase;
  record.what = call.tag.what;
  record.detail = call.tag.detail;
  record.sent_to = payload.sent_to;
  record.received_from = payload.received_from;
  record.start_ns = start_ns;
  record.end_ns = now_ns();
  record.nominal = call.nominal;
  Volume volume = volume_of(payload);
  if (call.nominal) {
    const CallShape shape{call.header.op, call.header.count, call.header.dtype, -1};
    volume = predicted_volume(shape_of(*transport_, settings_), shape, rank());
    record.sent_to[static_cast<std::size_t>((rank() + 1) % world_size())] = volume.sent();
    record.received_from[static_cast<std::size_t>((rank() + world_size() - 1) % world_size())] =
        volume.received();
  }
  ledger_.book(record, volume);
  if (settings_.checked && world_size() > 1) {
    ledger_.book(Traffic::kChecks, call.header.op, volume_of(headers));
  }
}

std::unique_ptr<Communicator> StreamCommunicator::split(int color, int key) {
  std::unique_ptr<Transport> part;
  Operation operation;
  operation.name = "split";
  operation.work = [this, color, key, &part] {
    try {
      part = transport_->split(color, key);
    } catch (const Aborted&) {
      throw;
    } catch (const std::exception& error) {
      transport_->abort(error);
      throw;
    }
  };
  stream_.launch(std::move(operation));
  stream_.synchronize();
  return std::make_unique<StreamCommunicator>(std::move(part), device_, stream_, settings_,
                                              fmt::format("{}/{}", group_, color));
}

}  // namespace zerolab
