// A small job under mpirun that ends in the way its argument says; check_job.py looks at its exit
// code, its words and the bytes that MPI's own monitoring has seen.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>

#include "stages/comm/world.h"
#include "stages/core/error.h"
#include "stages/device/cpu/cpu_device.h"

namespace zerolab {
namespace {

const CallTag kTag{"reduce gradients", Traffic::kTraining, "bucket 3"};

struct Ranks {
  RankContext& context;
  Device& device;
  Stream& stream;
  Communicator& comm;
};

// Every operation, and what this rank's ledger says it sent: "rank 1 sent 12345".
void move_bytes(Ranks& r) {
  const int n = r.comm.world_size();
  const auto buffer = [&](std::int64_t count) {
    Buffer made = r.device.allocate(DType::kFloat32, count, Category::kWorkspace, "job", r.stream);
    r.stream.launch({.name = "fill",
                     .detail = "",
                     .reads = {},
                     .writes = {made.view()},
                     .work = [view = made.view()] {
                       for (std::int64_t i = 0; i < view.count; ++i) view.as<float>()[i] = 1;
                     }});
    return made;
  };
  const Buffer odd = buffer(100'003);
  const Buffer full = buffer(1'000 * n);
  const Buffer out = buffer(1'000 * n);
  r.comm.all_reduce(odd.view(), kTag);
  r.comm.reduce_scatter(full.view(), out.slice(0, 1'000), kTag);
  r.comm.all_gather(full.slice(r.comm.rank() * 1'000, 1'000), full.view(), kTag);
  r.comm.broadcast(odd.view(), 1, kTag);
  r.comm.all_to_all(full.view(), out.view(), kTag);
  if (r.comm.rank() == 0) r.comm.send(odd.view(), 1, kTag);
  if (r.comm.rank() == 1) r.comm.recv(odd.view(), 0, kTag);
  r.comm.barrier(kTag);
  r.stream.synchronize();
  const auto texts = r.context.gather_texts(fmt::format(
      "rank {} sent {}", r.comm.rank(), r.comm.ledger().total(Traffic::kTraining).sent()));
  if (r.comm.rank() != 0) return;
  for (const std::string& text : texts) std::puts(text.c_str());
}

void run(const std::string& how, RankContext& context) {
  const auto device = make_cpu_device();
  const auto stream = device->create_stream("communication");
  CommSettings settings;
  settings.checked = how == "mismatch";
  settings.timeout_seconds = how == "late" ? 1 : 300;
  if (how == "ring") settings.reduction = Reduction::kRing;
  const auto comm = context.create_communicator(*device, *stream, settings);
  Ranks ranks{context, *device, *stream, *comm};
  const bool odd_one = context.rank() == context.world_size() - 1;
  if (how == "ordered" || how == "ring") return move_bytes(ranks);
  if (odd_one && how == "throw") throw std::runtime_error("[data] the disk is full");
  if (odd_one && how == "kill") std::raise(SIGKILL);
  if (odd_one && how == "late") std::this_thread::sleep_for(std::chrono::seconds(4));
  comm->barrier(odd_one && how == "mismatch" ? CallTag{"gather parameters", Traffic::kTraining, ""}
                                             : kTag);
  stream->synchronize();
}

}  // namespace
}  // namespace zerolab

int main(int argc, char** argv) {
  using namespace zerolab;
  const auto world = make_mpi_world();
  try {
    world->run([&](RankContext& context) { run(argc > 1 ? argv[1] : "", context); });
  } catch (const Aborted& aborted) {  // another process has told
    return aborted.exit_code();
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
  return 0;
}
