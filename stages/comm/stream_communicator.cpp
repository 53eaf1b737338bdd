// The calls: what each requires, reads, writes and lets its peers see.
#include <cstring>
#include <utility>

#include "stages/comm/stream_communicator.h"
#include "stages/comm/sum.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

bool overlap(View a, View b) { return a.data < b.data + b.bytes() && b.data < a.data + a.bytes(); }

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

View StreamCommunicator::own_piece(View array) const {
  return array.slice(piece_of(array.count, transport_->world_size(), transport_->rank()));
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
    const Outgoing message{peer, bytes_of(view)};
    wire.transport.exchange({&message, 1}, {});
  };
  launch(std::move(call), {view}, {});
}

void StreamCommunicator::recv(View view, int peer, const CallTag& tag) {
  require(peer >= 0 && peer < world_size() && peer != rank(),
          "[comm] rank {} of {} receives from rank {}", rank(), world_size(), peer);
  Call call = make_call(CollectiveOp::kRecv, view.dtype, view.count, peer, tag);
  call.moves = [view, peer](Wire& wire) {
    const Incoming message{peer, bytes_of(view)};
    wire.transport.exchange({}, {&message, 1});
  };
  launch(std::move(call), {}, {view});
}

void StreamCommunicator::barrier(const CallTag& tag) {
  Call call = make_call(CollectiveOp::kBarrier, DType::kByte, 0, -1, tag);
  call.moves = [](Wire& wire) { wire.transport.meet(); };
  launch(std::move(call), {}, {});
}

}  // namespace zerolab
