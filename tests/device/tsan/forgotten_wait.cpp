/// \file
/// A program that forgets one wait, or none. Built with ThreadSanitizer, which must report the
/// first however long the streams happen to keep apart, and stay silent about the second.
///
/// Usage: forgotten_wait CASE (complete | "bucket full" | "bucket free" | reuse), then "watched"
/// or nothing.
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "stages/device/cpu/cpu_device.h"
#include "stages/device/forwarding.h"
#include "stages/device/jitter.h"
#include "stages/device/order_checker.h"
#include "stages/device/timeline.h"
#include "tests/device/work.h"

namespace {

using namespace zerolab;

class ForgetfulStream final : public ForwardingStream {
 public:
  ForgetfulStream(std::unique_ptr<Stream> inner, std::string forgotten)
      : ForwardingStream(std::move(inner)), forgotten_(std::move(forgotten)) {}
  void wait(const Event& event, const char* reason) override {
    if (reason != forgotten_) inner().wait(event, reason);
  }

 private:
  std::string forgotten_;
};

/// Far longer than the work: the streams never really meet, only their order is missing.
void let_the_streams_run_dry() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }

/// Compute fills one of two buckets while communication adds up the other.
void double_buffer(Device& device, const std::string& forgotten) {
  ForgetfulStream compute(device.create_stream("compute"), forgotten);
  ForgetfulStream communication(device.create_stream("communication"), forgotten);
  std::vector<Buffer> buckets;
  std::vector<Event> free(2);
  for (int i = 0; i < 2; ++i) {
    buckets.push_back(
        device.allocate(DType::kFloat32, 64, Category::kGradientBuckets, "bucket", compute));
  }
  const Buffer sum =
      device.allocate(DType::kFloat32, 64, Category::kGradients, "sum", communication);
  for (std::size_t i = 0; i < 6; ++i) {
    const View bucket = buckets[i % 2].view();
    compute.wait(free[i % 2], "bucket free");
    testing::fill(compute, bucket, static_cast<float>(i));
    communication.wait(compute.record(), "bucket full");
    testing::add_one(communication, bucket, sum.view());
    free[i % 2] = communication.record();
    let_the_streams_run_dry();
    // Memory that comes and goes must not order the streams by the way.
    device.allocate(DType::kFloat32, 64, Category::kActivations, "activations", compute);
  }
}

/// A view of freed memory is used while the block has a new owner.
void use_after_reuse(Device& device) {
  const auto compute = device.create_stream("compute");
  const auto communication = device.create_stream("communication");
  Buffer old = device.allocate(DType::kFloat32, 64, Category::kActivations, "old", *compute);
  const View stale = old.view();
  testing::fill(*compute, stale, 1);
  communication->wait(compute->record(), "old complete");
  old.reset();
  std::vector<float> seen;
  testing::look(*communication, stale, seen);
  let_the_streams_run_dry();
  const Buffer fresh =
      device.allocate(DType::kFloat32, 64, Category::kActivations, "fresh", *compute);
  testing::fill(*compute, fresh.view(), 2);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string forgotten = argc > 1 ? argv[1] : "complete";
  const bool watched = argc > 2;  // none of the watchers may order the streams
  OrderChecker order;
  Timeline timeline;
  Jitter jitter(1);
  CpuDeviceOptions options;
  if (watched) options = {{&order, &timeline, &jitter}, false, forgotten != "reuse"};
  const auto device = make_cpu_device(options);
  if (forgotten == "reuse") {
    use_after_reuse(*device);
  } else {
    double_buffer(*device, forgotten);
  }
  std::puts("done");
  return 0;
}
