#include "stages/comm/stream_communicator.h"

#include <bit>
#include <chrono>
#include <cstring>
#include <exception>
#include <utility>

#include "stages/comm/sum.h"
#include "stages/comm/volume_formula.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool overlap(View a, View b) { return a.data < b.data + b.bytes() && b.data < a.data + a.bytes(); }

GroupShape shape_of(const Transport& transport, const CommSettings& settings) {
  GroupShape shape{transport.shares_memory() ? WireKind::kPeerView : WireKind::kMessages,
                   settings.reduction,
                   {}};
  for (const int rank : transport.world_ranks()) {
    shape.node.push_back(settings.ranks_per_node > 0 ? rank / settings.ranks_per_node : 0);
  }
  return shape;
}

// The parts of `whole` in front of and behind `hole`.
std::vector<View> around(View whole, View hole) {
  const std::int64_t begin =
      (hole.data - whole.data) / static_cast<std::int64_t>(size_of(whole.dtype));
  return {whole.slice(0, begin), whole.slice({begin + hole.count, whole.count})};
}

void copy(View from, View to) {
  if (from.data != to.data && !from.empty()) {
    std::memcpy(to.data, from.data, static_cast<std::size_t>(from.bytes()));
  }
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
      phase_(std::make_shared<std::string>()),
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
  // An exception is on its way to the world: calls in flight must not wait for ranks that wait for
  // us.
  if (std::uncaught_exceptions() > exceptions_at_start_) transport_->give_up();
  try {
    stream_.synchronize();
  } catch (...) {  // the call that failed has told the world
  }
}

void StreamCommunicator::set_phase(std::string phase) {
  phase_ = std::make_shared<std::string>(std::move(phase));
}

View StreamCommunicator::own_piece(View array) const {
  return array.slice(piece_of(array.count, transport_->world_size(), transport_->rank()));
}

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
      Wire wire{*transport_,
                settings_.reduction,
                {staging_.view().data, static_cast<std::size_t>(staging_.view().bytes())}};
      if (call.header.op == CollectiveOp::kSend || call.header.op == CollectiveOp::kRecv) {
        transport_->open_pair(call.header);
        headers = transport_->take_bytes();
        call.moves(wire);
      } else {
        const OpenCall open(*transport_, call.header,
                            {call.shared.data, static_cast<std::size_t>(call.shared.bytes())});
        headers = transport_->take_bytes();
        call.moves(wire);
      }
    }
    book(call, headers, transport_->take_bytes(), start_ns);
  } catch (const Aborted&) {
    throw;
  } catch (const std::exception& error) {
    transport_->abort(error.what());
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
  record.phase = *call.phase;
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

void StreamCommunicator::all_reduce(View in_out, const CallTag& tag) {
  require(has_sum(in_out.dtype), "[comm] all_reduce of {}, which has no sum: it can only be moved",
          name_of(in_out.dtype));
  Call call = make_call(CollectiveOp::kAllReduce, in_out.dtype, in_out.count, -1, tag);
  call.shared = in_out;
  call.nominal = settings_.reduction == Reduction::kNative;
  call.moves = [in_out, native = call.nominal](Wire& wire) {
    if (native) return wire.transport.native_all_reduce(in_out);
    zerolab::all_reduce(wire, in_out);
  };
  launch(std::move(call), {}, {in_out});
}

void StreamCommunicator::reduce_scatter(View input, View output, const CallTag& tag) {
  require(has_sum(input.dtype),
          "[comm] reduce_scatter of {}, which has no sum: it can only be moved",
          name_of(input.dtype));
  require(input.dtype == output.dtype && input.count == output.count * world_size(),
          "[comm] reduce_scatter of {} {} into {} {} on {} ranks; the input must be N outputs",
          input.count, name_of(input.dtype), output.count, name_of(output.dtype), world_size());
  const bool in_place = overlap(input, output);
  require(!in_place || output.data == own_piece(input).data,
          "[comm] reduce_scatter into the input, but not into this rank's slice of it");
  Call call = make_call(CollectiveOp::kReduceScatter, input.dtype, input.count, -1, tag);
  call.shared = input;
  call.nominal = settings_.reduction == Reduction::kNative;
  call.moves = [input, output, native = call.nominal](Wire& wire) {
    if (native) return wire.transport.native_reduce_scatter(input, output);
    reduce_pieces(wire, input, output);
  };
  if (world_size() == 1) call.before = [input, output] { copy(input, output); };
  std::vector<View> reads;
  std::vector<View> writes{output};
  if (settings_.reduction == Reduction::kRing && world_size() > 1) {
    writes = in_place ? std::vector{input} : std::vector{input, output};  // partial sums
  } else {
    reads = in_place ? around(input, output) : std::vector{input};
  }
  launch(std::move(call), std::move(reads), std::move(writes));
}

void StreamCommunicator::all_gather(View input, View output, const CallTag& tag) {
  require(input.dtype == output.dtype && output.count == input.count * world_size(),
          "[comm] all_gather of {} {} into {} {} on {} ranks; the output must be N inputs",
          input.count, name_of(input.dtype), output.count, name_of(output.dtype), world_size());
  const bool in_place = overlap(input, output);
  require(!in_place || input.data == own_piece(output).data,
          "[comm] all_gather from the output, but not from this rank's slice of it");
  Call call = make_call(CollectiveOp::kAllGather, output.dtype, output.count, -1, tag);
  call.shared = output;
  call.nominal = settings_.reduction == Reduction::kNative;
  call.before = [input, mine = own_piece(output)] { copy(input, mine); };
  call.moves = [output, native = call.nominal](Wire& wire) {
    if (native) return wire.transport.native_all_gather(output);
    gather_pieces(wire, output);
  };
  launch(std::move(call), in_place ? std::vector<View>{} : std::vector{input}, {output});
}

void StreamCommunicator::broadcast(View in_out, int root, const CallTag& tag) {
  require(root >= 0 && root < world_size(), "[comm] broadcast from rank {} of {}", root,
          world_size());
  Call call = make_call(CollectiveOp::kBroadcast, in_out.dtype, in_out.count, root, tag);
  call.shared = in_out;
  call.moves = [in_out, root](Wire& wire) { zerolab::broadcast(wire.transport, in_out, root); };
  if (rank() == root) {
    launch(std::move(call), {in_out}, {});
  } else {
    launch(std::move(call), {}, {in_out});
  }
}

void StreamCommunicator::all_to_all(View input, View output, const CallTag& tag) {
  require(input.dtype == output.dtype && input.count == output.count &&
              input.count % world_size() == 0 && !overlap(input, output),
          "[comm] all_to_all of {} {} into {} {} on {} ranks; both must be N equal slices, apart",
          input.count, name_of(input.dtype), output.count, name_of(output.dtype), world_size());
  Call call = make_call(CollectiveOp::kAllToAll, input.dtype, input.count, -1, tag);
  call.shared = input;
  if (world_size() == 1) call.before = [input, output] { copy(input, output); };
  call.moves = [input, output](Wire& wire) { zerolab::all_to_all(wire.transport, input, output); };
  launch(std::move(call), {input}, {output});
}

void StreamCommunicator::send(View view, int peer, const CallTag& tag) {
  require(peer >= 0 && peer < world_size() && peer != rank(),
          "[comm] rank {} of {} sends to rank {}", rank(), world_size(), peer);
  Call call = make_call(CollectiveOp::kSend, view.dtype, view.count, peer, tag);
  call.moves = [view, peer](Wire& wire) {
    const Outgoing message{peer, {view.data, static_cast<std::size_t>(view.bytes())}};
    wire.transport.exchange({&message, 1}, {});
  };
  launch(std::move(call), {view}, {});
}

void StreamCommunicator::recv(View view, int peer, const CallTag& tag) {
  require(peer >= 0 && peer < world_size() && peer != rank(),
          "[comm] rank {} of {} receives from rank {}", rank(), world_size(), peer);
  Call call = make_call(CollectiveOp::kRecv, view.dtype, view.count, peer, tag);
  call.moves = [view, peer](Wire& wire) {
    const Incoming message{peer, {view.data, static_cast<std::size_t>(view.bytes())}};
    wire.transport.exchange({}, {&message, 1});
  };
  launch(std::move(call), {}, {view});
}

void StreamCommunicator::barrier(const CallTag& tag) {
  Call call = make_call(CollectiveOp::kBarrier, DType::kByte, 0, -1, tag);
  call.moves = [](Wire& wire) { wire.transport.meet(); };
  launch(std::move(call), {}, {});
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
      transport_->abort(error.what());
      throw;
    }
  };
  stream_.launch(std::move(operation));
  stream_.synchronize();
  return std::make_unique<StreamCommunicator>(std::move(part), device_, stream_, settings_,
                                              fmt::format("{}/{}", group_, color));
}

}  // namespace zerolab
